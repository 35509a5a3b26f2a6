// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/tag_series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pcp::trace::command {

namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

// Limit of slices per tag; a page shows no more.
constexpr std::int64_t kMostSlices = 120;

std::vector<float>* grown_of(Series& series, Quantity quantity) {
  switch (quantity) {
    case Quantity::Calls:
      return &series.calls;
    case Quantity::Failed:
      return &series.failed;
    case Quantity::Sum:
      return &series.sum;
    case Quantity::Counted:
      return &series.counted;
    default:
      return nullptr;  // not shown over time
  }
}

std::chrono::nanoseconds shortest_slice(const Grid& grid) {
  if (grid.points() == 0) return {};
  return (grid.edges.back() - grid.edges.front()) / kMostSlices;
}

void prepare(std::vector<float>& points, std::size_t count, float value) {
  if (points.empty()) points.assign(count, value);
}

}  // namespace

TagSeries::TagSeries(const Grid& fine, const Grid& coarse, const std::vector<WantedSeries>& wanted)
    : fine_(fine), coarse_(coarse) {
  for (const WantedSeries& each : wanted) {
    if (each.tag >= by_tag_.size()) by_tag_.resize(each.tag + 1);
    Series series;
    series.tag = each.in_model;
    series.is_coarse = each.is_coarse;
    courses_.push_back(
        {std::move(series), each.is_of_one_archive, HistogramSlices(shortest_slice(fine))});
    by_tag_[each.tag] = courses_.size();
  }
}

void TagSeries::take_sample(const SampleTime& time) {
  time_ = time;
  if (!time.from) {
    histograms_at_ = histograms_before_ = time.at;
    for (Course& course : courses_) course.slices.interrupt();
    return;
  }
  for (TimeGrid* const grid : {&fine_, &coarse_}) {
    grid->set(*time.from, time.at);
    grid->cover();
  }
}

void TagSeries::take(const Change& change) {
  Course* const course = course_of(change.tag);
  if (course == nullptr) return;
  Series& series = course->series;
  TimeGrid& grid = grid_of(series);
  grid.set(change.from, time_.at);
  if (only_grows(change.quantity)) return take_grown(series, change);

  const auto point = grid.last();
  if (!point) return;
  const auto value = static_cast<float>(change.value);
  const auto note = [&](std::vector<float>& points, auto better) {
    prepare(points, grid.points(), kNothing);
    points[*point] = better(points[*point], value);
  };
  const auto greater = [](float one, float other) { return std::fmax(one, other); };
  if (change.quantity == Quantity::Last)
    note(series.value, [](float, float now) { return now; });
  else if (change.quantity == Quantity::Min)
    note(series.min, [](float one, float other) { return std::fmin(one, other); });
  else if (change.quantity == Quantity::Max)
    note(series.max, greater);
  else if (const auto percentile = percentile_of(change.quantity);
           percentile && course->is_of_one_archive)
    note(series.percentiles[*percentile], greater);
}

void TagSeries::take_grown(Series& series, const Change& change) {
  TimeGrid& grid = grid_of(series);
  std::vector<float>* const grown = grown_of(series, change.quantity);
  if (grown == nullptr) return;
  std::vector<float>& points = *grown;
  prepare(points, grid.points(), 0);
  if (change.value == 0) return;
  grid.for_each_share([&](std::size_t point, double share) {
    points[point] += static_cast<float>(change.value * share);
  });
}

void TagSeries::take_histogram(std::size_t tag, std::string_view text) {
  if (time_.at != histograms_at_) histograms_before_ = std::exchange(histograms_at_, time_.at);
  Course* const course = course_of(tag);
  if (course == nullptr || course->series.is_coarse || !course->is_of_one_archive) return;
  course->slices.take(text, time_.at, histograms_before_, since_of(text) >= histograms_before_);
}

std::vector<Series> TagSeries::finish() {
  std::vector<Series> all;
  for (Course& course : courses_) {
    finish_course(course);
    all.push_back(std::move(course.series));
  }
  return all;
}

void TagSeries::finish_course(Course& course) {
  Series& series = course.series;
  const TimeGrid& grid = grid_of(series);
  for (std::vector<float>* const points :
       {&series.calls, &series.failed, &series.sum, &series.counted}) {
    for (std::size_t i = 0; i < points->size(); ++i)
      if (!grid.is_covered(i)) (*points)[i] = kNothing;
  }
  // A value stays until it changes.
  for (std::size_t i = 1; i < series.value.size(); ++i)
    if (std::isnan(series.value[i]) && grid.is_covered(i)) series.value[i] = series.value[i - 1];
  series.histograms = course.slices.finish().slices;
}

TagSeries::Course* TagSeries::course_of(std::size_t tag) {
  if (tag >= by_tag_.size() || by_tag_[tag] == 0) return nullptr;
  return &courses_[by_tag_[tag] - 1];
}

}  // namespace pcp::trace::command
