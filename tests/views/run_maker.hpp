// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes up runs, tag by tag.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "command/run/model.hpp"

namespace pcp::trace::command {

inline constexpr WallTime kBegin{std::chrono::seconds(1'790'000'000)};
inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

inline Grid grid_of(std::size_t points, std::chrono::nanoseconds step) {
  Grid grid;
  for (std::size_t i = 0; i <= points; ++i)
    grid.edges.push_back(kBegin + step * static_cast<long>(i));
  return grid;
}

inline Model model_of(std::size_t points, std::chrono::nanoseconds step) {
  Model model;
  model.run = {.archives = {"shop.trace"},
               .hosts = {"build7"},
               .command = "./shop --port 8080",
               .time_zone = "Europe/Berlin",
               .begin = kBegin,
               .end = kBegin + step * static_cast<long>(points),
               .samples = points,
               .interval = step,
               .gaps = {}};
  model.fine = grid_of(points, step);
  model.coarse = grid_of(std::min<std::size_t>(points, 120),
                         step * static_cast<long>(std::max<std::size_t>(points / 120, 1)));
  return model;
}

// How a made-up tag behaves.
struct Habit {
  double per_second;
  double median_s;
  double spread;  // standard deviation of the logarithms
  double failed = 0;
  double slow_tail = 0;  // share of calls that take ten times as long
};

inline double quantile_of(std::vector<double>& values, double q) {
  const auto at = values.begin() + static_cast<long>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// A wave, and higher load from 58% to 66% of the run.
inline double load_at(double share) {
  return 1 + 0.35 * std::sin(share * 11) + 0.2 * std::sin(share * 37 + 1);
}
inline double slowness_at(double share) {
  return share > 0.58 && share < 0.66 ? 1 + 5 * std::sin((share - 0.58) / 0.08 * 3.14159)
                                      : 1 + 0.1 * std::sin(share * 23);
}

class Maker {
 public:
  explicit Maker(Model& model, unsigned seed = 7) : model_(model), random_(seed) {}

  // A transaction or an observation with random values; each interval has its own.
  void measure(const std::string& name, TraceType type, const Habit& habit, bool is_coarse = false,
               bool has_histogram = true) {
    Tag tag = tag_of(name, type);
    const Grid& grid = is_coarse ? model_.coarse : model_.fine;
    Series series = empty_series(grid.points(), is_coarse);
    Histogram all;
    double sum = 0;
    for (std::size_t i = 0; i < grid.points(); ++i) {
      const double length =
          std::chrono::duration<double>(grid.edges[i + 1] - grid.edges[i]).count();
      const double share = static_cast<double>(i) / static_cast<double>(grid.points());
      const auto calls =
          std::poisson_distribution<int>(habit.per_second * length * load_at(share))(random_);
      std::vector<double> values = values_of(habit, share, calls);
      Histogram here;
      for (const double each : values) here.add(each);
      fill(series, i, calls, values);
      sum += series.of(Quantity::Sum)[i];
      const double failed = std::floor(calls * habit.failed * slowness_at(share) *
                                       std::uniform_real_distribution<>(0, 2)(random_));
      series.of(Quantity::Failed)[i] = static_cast<float>(failed);
      const double busy = static_cast<double>(series.of(Quantity::Sum)[i]) / length;
      if (has_histogram) series.of(Quantity::InFlight).push_back(in_flight(busy));
      tag.calls += calls;
      tag.failed = tag.failed.value_or(0) + failed;
      all.merge(here);
      if (has_histogram && calls > 0) add_to_slice(series, i, grid, std::move(here));
      note_extremes(tag, series, i, grid);
    }
    finish(tag, series, sum, all, has_histogram);
  }

  // So many values in each interval.
  void observe(const std::string& name, const std::function<double()>& next, int values_each = 50,
               TraceType type = TraceType::Observe) {
    Tag tag = tag_of(name, type);
    if (type == TraceType::Observe) tag.nonfinite = 0;
    Series series = empty_series(model_.fine.points(), false);
    Histogram all;
    double sum = 0;
    for (std::size_t i = 0; i < model_.fine.points(); ++i) {
      std::vector<double> values(static_cast<std::size_t>(values_each));
      std::generate(values.begin(), values.end(), next);
      Histogram here;
      for (const double each : values) here.add(each);
      fill(series, i, values_each, values);
      sum += static_cast<double>(series.of(Quantity::Sum)[i]);
      tag.calls += values_each;
      all.merge(here);
      add_to_slice(series, i, model_.fine, std::move(here));
      note_extremes(tag, series, i, model_.fine);
    }
    finish(tag, series, sum, all, true);
  }

  void count(const std::string& name, TraceType type, double per_second, double step,
             const std::string& unit) {
    Tag tag = tag_of(name, type);
    tag.unit = unit;
    Series series;
    double total = 0;
    for (std::size_t i = 0; i < model_.fine.points(); ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(model_.fine.points());
      const int calls = std::poisson_distribution<int>(per_second * load_at(share))(random_);
      series.of(Quantity::Calls).push_back(static_cast<float>(calls));
      tag.calls += calls;
      total += calls * step;
      if (type != TraceType::Counter) continue;
      series.of(Quantity::Counted).push_back(static_cast<float>(calls * step));
      series.of(Quantity::Last).push_back(static_cast<float>(total));
    }
    if (type == TraceType::Counter) tag.counted = tag.last = total;
    tag.rate = tag.calls / model_.run.elapsed_s();
    add(std::move(tag), std::move(series));
  }

  void add_total_only(const std::string& name, double calls) {
    Tag tag = tag_of(name, TraceType::Transact);
    tag.calls = calls;
    tag.sum = calls * 0.001;
    tag.mean = 0.001;
    tag.rate = calls / model_.run.elapsed_s();
    tag.busy = *tag.sum / model_.run.elapsed_s();
    tag.percentile_source = PercentileSource::SeveralWindows;
    tag.max = Extreme{0.25, false};
    model_.tags.push_back(std::move(tag));
  }

  void add(Tag tag, Series series) {
    series.tag = model_.tags.size();
    model_.tags.push_back(std::move(tag));
    model_.series.push_back(std::move(series));
  }

  static Tag tag_of(const std::string& name, TraceType type) {
    Tag tag;
    tag.name = name;
    tag.type = type;
    tag.hosts = {0};
    return tag;
  }

 private:
  // As many slices as there are of an archive.
  static void add_to_slice(Series& series, std::size_t i, const Grid& grid, Histogram here) {
    const std::size_t points_of_one = grid.points() / 120 + 1;
    if (i % points_of_one == 0 || series.histograms.empty()) {
      series.histograms.push_back({grid.edges[i], grid.edges[i + 1], std::move(here)});
      return;
    }
    series.histograms.back().end = grid.edges[i + 1];
    series.histograms.back().values.merge(here);
  }

  float in_flight(double busy) {
    return static_cast<float>(std::poisson_distribution<int>(busy + 1e-9)(random_));
  }

  static Series empty_series(std::size_t points, bool is_coarse) {
    Series series;
    series.is_coarse = is_coarse;
    for (const Quantity each :
         {Quantity::Calls, Quantity::Failed, Quantity::Sum, Quantity::Min, Quantity::Max,
          Quantity::P50, Quantity::P90, Quantity::P95, Quantity::P99, Quantity::P999})
      series.of(each).resize(points, kUnknown);
    return series;
  }

  std::vector<double> values_of(const Habit& habit, double share, int calls) {
    std::lognormal_distribution<double> usual(std::log(habit.median_s * slowness_at(share)),
                                              habit.spread);
    std::uniform_real_distribution<double> chance(0, 1);
    std::vector<double> values(static_cast<std::size_t>(calls));
    for (double& each : values)
      each = usual(random_) * (chance(random_) < habit.slow_tail ? 12 : 1);
    return values;
  }

  static void fill(Series& series, std::size_t i, int calls, std::vector<double>& values) {
    series.of(Quantity::Calls)[i] = static_cast<float>(calls);
    series.of(Quantity::Sum)[i] = 0;
    if (values.empty()) return;
    for (const double each : values) series.of(Quantity::Sum)[i] += static_cast<float>(each);
    series.of(Quantity::Min)[i] =
        static_cast<float>(*std::min_element(values.begin(), values.end()));
    series.of(Quantity::Max)[i] =
        static_cast<float>(*std::max_element(values.begin(), values.end()));
    for (std::size_t k = 0; k < kPercentiles.size(); ++k)
      series.columns[index_of(Quantity::P50) + k][i] =
          static_cast<float>(quantile_of(values, kPercentiles[k]));
  }

  static void note_extremes(Tag& tag, const Series& series, std::size_t i, const Grid& grid) {
    if (std::isnan(series.of(Quantity::Max)[i])) return;
    const double max = static_cast<double>(series.of(Quantity::Max)[i]);
    if (!tag.min || static_cast<double>(series.of(Quantity::Min)[i]) < tag.min->value)
      tag.min = Extreme{static_cast<double>(series.of(Quantity::Min)[i]), true};
    if (tag.max && tag.max->value >= max) return;
    tag.max = Extreme{max, true};
    tag.slowest =
        SlowestMoment{grid.edges[i + 1], max, false, false,
                      std::chrono::duration<double>(grid.edges[i + 1] - grid.edges[i]).count()};
  }

  void finish(Tag& tag, Series& series, double sum, Histogram& all, bool has_histogram) {
    const double elapsed = model_.run.elapsed_s();
    tag.sum = sum;
    tag.rate = tag.calls / elapsed;
    if (tag.calls > 0) tag.mean = sum / tag.calls;
    if (tag.type == TraceType::Transact)
      tag.busy = sum / elapsed;
    else
      tag.failed = std::nullopt, series.of(Quantity::Failed).clear(), tag.slowest = std::nullopt,
      series.of(Quantity::Last) = series.of(Quantity::P50);
    tag.percentile_source =
        has_histogram ? PercentileSource::Histogram : PercentileSource::SeveralWindows;
    if (has_histogram && !all.empty()) {
      for (std::size_t i = 0; i < kPercentiles.size(); ++i)
        tag.percentiles[i] = all.quantile(kPercentiles[i]);
      tag.distribution = std::move(all);
    }
    add(std::move(tag), std::move(series));
  }

  Model& model_;
  std::mt19937 random_;
};

}  // namespace pcp::trace::command
