// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/tag_series.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace pcp::trace::command {

void LevelSum::set(std::size_t tag, std::size_t point, double level) {
  const auto [found, is_new] = levels_.try_emplace(tag, Level{level, point});
  if (is_new) return;
  fill_before(found->second, point);
  found->second.value = level;
}

void LevelSum::interrupt(std::size_t point) {
  for (auto& [tag, level] : levels_) {
    fill_before(level, point + 1);
    level.value = std::numeric_limits<double>::quiet_NaN();
  }
}

void LevelSum::finish_archive(std::size_t point) {
  for (auto& [tag, level] : levels_) fill_before(level, point + 1);
  levels_.clear();
}

std::vector<float> LevelSum::finish(std::size_t points) {
  std::vector<float> sums;
  if (sums_.empty()) return sums;
  sums_.resize(points);
  for (const double each : sums_) sums.push_back(static_cast<float>(each));
  return sums;
}

// NaN and another number are NaN.
void LevelSum::fill_before(Level& level, std::size_t point) {
  if (point > sums_.size()) sums_.resize(point);
  for (std::size_t i = level.next; i < point; ++i) sums_[i] += level.value;
  level.next = std::max(level.next, point);
}

namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

// Limit of slices per tag; a page shows no more.
constexpr std::int64_t kMostSlices = 120;

bool is_shown_over_time(Quantity quantity) {
  return quantity != Quantity::Vanished && quantity != Quantity::Nonfinite &&
         quantity != Quantity::Rate;
}

// Slices of completed and of failed calls begin and end independently. A slice is added to the one
// in which it ends; else it stays alone, without the time of its neighbours.
void add_slices(std::vector<TimedHistogram>& all, std::vector<TimedHistogram> others) {
  for (TimedHistogram& other : others) {
    const auto next = std::ranges::lower_bound(all, other.end, {}, &TimedHistogram::end);
    if (next != all.end() && next->begin < other.end) {
      next->values.merge(other.values);
      continue;
    }
    if (next != all.begin()) other.begin = std::max(other.begin, std::prev(next)->end);
    all.insert(next, std::move(other));
  }
}

std::chrono::nanoseconds shortest_slice(const Grid& grid) {
  if (grid.points() == 0) return {};
  return (grid.edges.back() - grid.edges.front()) / kMostSlices;
}

}  // namespace

TagSeries::TagSeries(const Grid& fine, const Grid& coarse, const std::vector<WantedSeries>& wanted)
    : fine_(fine), coarse_(coarse) {
  courses_.reserve(wanted.size());  // they keep their addresses
  for (const WantedSeries& each : wanted) {
    Series series;
    series.tag = each.in_model;
    series.is_coarse = each.is_coarse;
    const HistogramSlices slices(shortest_slice(fine));
    courses_.push_back({std::move(series),
                        each.times_of,
                        each.is_of_one_archive,
                        each.has_percentiles,
                        each.tags.size() == 1,
                        {Slices{slices}, Slices{slices}}});
    for (const auto& [tags, ending] :
         {std::pair(&each.tags, Ending::Completed), std::pair(&each.failed, Ending::Failed)})
      for (const std::size_t tag : *tags) {
        if (tag >= by_tag_.size()) by_tag_.resize(tag + 1);
        by_tag_[tag] = {&courses_.back(), ending};
      }
  }
}

void TagSeries::take_sample(const SampleTime& time) {
  if (!time.from && has_sample_)
    for (Course& course : courses_)
      if (const auto point = last_point(course)) course.in_flight.interrupt(*point);
  time_ = time;
  has_sample_ = true;
  if (!time.from) {
    histograms_at_ = histograms_before_ = time.at;
    for (Course& course : courses_)
      for (Slices& each : course.slices) each.slices.interrupt();
    return;
  }
  for (TimeGrid* const grid : {&fine_, &coarse_}) {
    grid->set(*time.from, time.at);
    grid->cover();
  }
}

void TagSeries::take(const Change& change) {
  const Use use = use_of(change.tag);
  Course* const course = use.course;
  const Quantity quantity = change.quantity;
  if (course == nullptr || !is_shown_over_time(quantity)) return;
  if (percentile_of(quantity) && !course->has_percentiles) return;
  if (quantity == Quantity::Last && !course->is_of_one_tag) return;
  TimeGrid& grid = grid_of(course->series);
  grid.set(change.from, time_.at);
  if (quantity == Quantity::Calls) {
    if (change.value > 0 && !use.slices().called_from) use.slices().called_from = change.from;
    if (use.ending == Ending::Failed) add_growth(*course, Quantity::Failed, grid, change.value);
    return add_growth(*course, quantity, grid, change.value);
  }
  const auto at = grid.last();
  if (quantity == Quantity::InFlight) {
    if (at) course->in_flight.set(change.tag, *at, change.value);
    return;
  }
  if (!course->has_times_of(use.ending)) return;
  if (only_grows(quantity)) return add_growth(*course, quantity, grid, change.value);
  if (!at) return;
  std::vector<float>& points = course->series.of(quantity);
  if (points.empty()) points.assign(grid.points(), kNothing);
  float& point = points[*at];
  const auto value = static_cast<float>(change.value);
  point = quantity == Quantity::Last  ? value
          : quantity == Quantity::Min ? std::fmin(point, value)
                                      : std::fmax(point, value);
}

void TagSeries::add_growth(Course& course, Quantity quantity, TimeGrid& grid, double growth) {
  std::vector<float>& points = course.series.of(quantity);
  if (points.empty()) points.assign(grid.points(), 0);
  if (growth != 0)
    grid.for_each_share([&](std::size_t point, double share) {
      points[point] += static_cast<float>(growth * share);
    });
}

void TagSeries::take_histogram(std::size_t tag, std::string_view text) {
  if (time_.at != histograms_at_) histograms_before_ = std::exchange(histograms_at_, time_.at);
  const Use use = use_of(tag);
  if (use.course == nullptr || use.course->series.is_coarse || !use.course->is_of_one_archive ||
      !use.course->has_times_of(use.ending))
    return;
  auto& [slices, called_from] = use.slices();
  const WallTime before =
      std::max(histograms_before_, std::exchange(called_from, {}).value_or(WallTime::min()));
  slices.take(text, time_.at, before, since_of(text) >= histograms_before_);
}

void TagSeries::finish_archive(bool has_in_flight) {
  has_in_flight_ &= has_in_flight;
  for (Course& course : courses_)
    if (const auto point = last_point(course)) course.in_flight.finish_archive(*point);
  has_sample_ = false;
}

std::optional<std::size_t> TagSeries::last_point(const Course& course) {
  TimeGrid& grid = grid_of(course.series);
  grid.set(time_.from.value_or(time_.at), time_.at);
  return grid.last();
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
  if (has_in_flight_) series.of(Quantity::InFlight) = course.in_flight.finish(grid.points());
  const auto clear_uncovered = [&](std::vector<float>& points) {
    for (std::size_t i = 0; i < points.size(); ++i)
      if (!grid.is_covered(i)) points[i] = kNothing;
  };
  for (std::size_t each = 0; each < kGrowing; ++each) clear_uncovered(series.columns[each]);
  clear_uncovered(series.of(Quantity::InFlight));
  // A value stays until it changes.
  std::vector<float>& last = series.of(Quantity::Last);
  for (std::size_t i = 1; i < last.size(); ++i)
    if (std::isnan(last[i]) && grid.is_covered(i)) last[i] = last[i - 1];
  auto& [completed, failed] = course.slices;
  series.histograms = completed.slices.finish().slices;
  add_slices(series.histograms, failed.slices.finish().slices);
}

TagSeries::Use TagSeries::use_of(std::size_t tag) {
  return tag < by_tag_.size() ? by_tag_[tag] : Use{};
}

}  // namespace pcp::trace::command
