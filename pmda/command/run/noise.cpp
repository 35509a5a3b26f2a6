// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pcp::trace::command {

namespace {

// A slow drift within a run is a sign of drift between runs, which no average reduces. So drift
// counts as if a run had two independent stretches, instead of six.
constexpr double kWeightOfDrift = 3;

// Joins parts into `count` stretches of nearly equal length.
std::vector<Part> joined_parts(std::span<const Part> parts, std::size_t count) {
  std::vector<Part> all(count);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& stretch = all[i * count / parts.size()];
    stretch.value += parts[i].value;
    stretch.base += parts[i].base;
  }
  return all;
}

Part sum_of(std::span<const Part> parts) { return joined_parts(parts, 1).front(); }

// The distances of the parts to the ratio.
std::vector<double> distances_of(std::span<const Part> parts, double ratio) {
  std::vector<double> distances;
  for (const Part& each : parts) distances.push_back(each.value - ratio * each.base);
  return distances;
}

// The variance of the sum of values, from the differences of neighbours: without slow drifts.
double variance_of_neighbours(const std::vector<double>& values) {
  double squares = 0;
  for (std::size_t i = 1; i < values.size(); ++i) squares += std::pow(values[i] - values[i - 1], 2);
  const auto count = static_cast<double>(values.size());
  return squares / 2 * count / (count - 1);
}

// The variance of the sum of values, if they are independent.
double variance_of_all(const std::vector<double>& values) {
  double squares = 0;
  for (const double each : values) squares += each * each;
  const auto count = static_cast<double>(values.size());
  return squares * count / (count - 1);
}

// The integral of sin(x)^power from 0 to `end`, by Simpson's rule.
double integral_of_sine(double power, double end) {
  constexpr int kSteps = 400;
  const double step = end / kSteps;
  double sum = std::pow(std::sin(end), power);
  for (int i = 1; i < kSteps; ++i)
    sum += (i % 2 == 0 ? 2 : 4) * std::pow(std::sin(i * step), power);
  return sum * step / 3;
}

// The probability that Student's t is further from zero. With t = sqrt(freedom) / tan(x) its
// density becomes a power of sin(x).
double outside_of(double t, double freedom) {
  const double end = std::atan2(std::sqrt(freedom), t);
  return integral_of_sine(freedom - 1, end) / integral_of_sine(freedom - 1, std::numbers::pi / 2);
}

}  // namespace

std::optional<Estimate> ratio_of(std::span<const Part> parts) {
  if (parts.size() < kFewestParts) return {};
  const Part sum = sum_of(parts);
  if (sum.base == 0) return {};
  const double ratio = sum.value / sum.base;
  const double quick = variance_of_neighbours(distances_of(parts, ratio));
  double slow = 0;
  for (const std::size_t count : {kStretches, kStretches / 2})
    slow = std::max(slow, variance_of_all(distances_of(joined_parts(parts, count), ratio)));
  const double variance = quick + kWeightOfDrift * std::max(slow - quick, 0.0);
  return Estimate{ratio, variance / (sum.base * sum.base), kStretches - 1};
}

std::optional<Estimate> mean_of(std::span<const double> runs) {
  if (runs.size() < 2) return {};
  const auto count = static_cast<double>(runs.size());
  double sum = 0;
  for (const double each : runs) sum += each;
  const double mean = sum / count;
  double squares = 0;
  for (const double each : runs) squares += (each - mean) * (each - mean);
  return Estimate{mean, squares / (count - 1) / count, count - 1};
}

double chance_of(const Estimate& one, const Estimate& other) {
  const double distance = std::abs(one.value - other.value);
  const double variance = one.variance + other.variance;
  constexpr double kRounding = 1e-9;
  if (distance <= kRounding * std::max(std::abs(one.value), std::abs(other.value))) return 1;
  if (variance == 0) return 0;
  const double freedom =
      variance * variance /
      (one.variance * one.variance / one.freedom + other.variance * other.variance / other.freedom);
  return outside_of(distance / std::sqrt(variance), freedom);
}

double limit_of(std::vector<double> chances) {
  std::sort(chances.begin(), chances.end());
  double limit = -1;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    const double most =
        kMostFalseAlarms * static_cast<double>(i + 1) / static_cast<double>(chances.size());
    if (chances[i] <= most) limit = chances[i];
  }
  return limit;
}

}  // namespace pcp::trace::command
