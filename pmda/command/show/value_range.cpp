// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/value_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pcp::trace::command {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// No value lies outside the distribution. Infinite ones are in no distribution.
bool is_distribution_of_all(const Tag& tag) {
  return tag.percentile_source == PercentileSource::Histogram && !may_have_nonfinite(tag);
}

std::optional<ValueRange> range_of_percentile(const Tag& tag, Figure percentile) {
  constexpr double kError = 0.02;  // of an agent's own percentile
  const std::optional<double> value = value_of(tag, percentile);
  if (!value) return {};
  const double quantile = row_of(percentile).quantile;
  ValueRange range{*value - kError * std::abs(*value), *value + kError * std::abs(*value)};
  if (is_of_histogram(tag.percentile_source)) {
    const auto binned = static_cast<double>(tag.distribution->total());
    const double of_run = binned - tag.outside;
    const double missing = std::max(valued_calls(tag) - of_run, 0.0);
    const double rank = quantile * (of_run + missing);
    const bool is_of_all = missing == 0 && tag.outside == 0;
    const auto edges_at = [&](double rank_of_binned) {
      return tag.distribution->quantile_edges(is_of_all ? quantile : rank_of_binned / binned);
    };
    // At worst all missing values are the least ones, or all values from outside are.
    range.least = rank > missing ? edges_at(rank - missing).least : -kInfinity;
    const double highest = rank + tag.outside;
    range.greatest = is_of_all || highest <= binned ? edges_at(highest).greatest : kInfinity;
  }
  if (tag.min && tag.min->is_exact) range.least = std::max(range.least, tag.min->value);
  if (tag.max && tag.max->is_exact) range.greatest = std::min(range.greatest, tag.max->value);
  range.greatest = std::max(range.least, range.greatest);  // extremes have only seven digits
  return range;
}

std::optional<ValueRange> range_of_max(const Tag& tag) {
  if (!tag.max) return {};
  if (tag.max->is_exact) return exactly(tag.max->value);
  return ValueRange{tag.max->value, is_distribution_of_all(tag)
                                        ? tag.distribution->quantile_edges(1).greatest
                                        : kInfinity};
}

std::optional<ValueRange> range_of_min(const Tag& tag) {
  if (!tag.min) return {};
  if (tag.min->is_exact) return exactly(tag.min->value);
  return ValueRange{
      is_distribution_of_all(tag) ? tag.distribution->quantile_edges(0).least : -kInfinity,
      tag.min->value};
}

}  // namespace

std::optional<ValueRange> range_of(const Tag& tag, Figure figure) {
  switch (figure) {
    case Figure::Min:
      return range_of_min(tag);
    case Figure::Max:
      return range_of_max(tag);
    case Figure::Total:
    case Figure::Mean:
      if (may_have_nonfinite(tag)) return {};
      break;
    case Figure::Last:
      if (tag.last && !std::isfinite(*tag.last)) return {};
      break;
    default:
      if (is_percentile(figure)) return range_of_percentile(tag, figure);
  }
  return exactly(value_of(tag, figure));
}

// A mean, or a percentile, of a mixture is between those of its parts.
ValueRange mixed_with(const ValueRange& own, const Tag& others) {
  const ValueRange least = range_of_min(others).value_or(ValueRange{-kInfinity, 0});
  const ValueRange greatest = range_of_max(others).value_or(ValueRange{0, kInfinity});
  return {std::min(own.least, least.least), std::max(own.greatest, greatest.greatest)};
}

ValueRange failed_percent_with(const Tag& tag, const Tag& others) {
  const auto percent = [](double failed, double calls) {
    return failed == 0 ? 0 : failed / calls * 100;
  };
  if (!tag.failed || !others.failed) return {0, 100};
  const double completed = others.calls - *others.failed;  // of the others
  return {percent(*tag.failed, tag.calls + completed),
          percent(*tag.failed + *others.failed, tag.calls + *others.failed)};
}

std::optional<ValueRange> percent_of(const ValueRange& before, const ValueRange& now) {
  const bool is_zero = before.least == 0 && before.greatest == 0;
  if (is_zero && now.least == 0 && now.greatest == 0) return ValueRange{100, 100};
  if (is_zero && now.least > 0) return ValueRange{kInfinity, kInfinity};
  if (before.least <= 0 || now.least < 0) return {};
  return ValueRange{100 * now.least / before.greatest, 100 * now.greatest / before.least};
}

}  // namespace pcp::trace::command
