// SPDX-License-Identifier: LGPL-2.1-or-later
// Readers of a tag's values, for the metric tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

inline std::uint64_t finite_in_window(const TagValues& tag) {
  return tag.in_window ? tag.window.count - tag.window.nonfinite : 0;
}

// No value for a tag without ended calls, which is shown because of open transactions.
template <typename Value>
std::optional<Value> once_ended(const TagValues& tag, Value value) {
  if (tag.total.empty()) return {};
  return value;
}

inline constexpr auto count = [](const TagValues& tag, double) {
  return once_ended(tag, tag.total.count);
};
inline constexpr auto aborts = [](const TagValues& tag, double) {
  return once_ended(tag, tag.total.aborts);
};
inline constexpr auto sum = [](const TagValues& tag, double) {
  return once_ended(tag, tag.total.sum);
};
inline constexpr auto last = [](const TagValues& tag, double) { return tag.total.last; };

// No value for a counter to which programs only add.
inline constexpr auto last_reported = [](const TagValues& tag, double) -> std::optional<double> {
  if (tag.increments.calls == tag.total.count) return {};
  return tag.total.last;
};

inline constexpr auto added = [](const TagValues& tag, double) -> std::optional<double> {
  if (tag.increments.calls == 0) return {};
  return tag.increments.sum;
};

inline constexpr auto rate = [](const TagValues& tag, double period_s) -> std::optional<double> {
  if (!tag.in_window || tag.window.count == 0) return {};
  return static_cast<double>(tag.window.count) / period_s;
};

inline constexpr auto average = [](const TagValues& tag, double) -> std::optional<double> {
  const std::uint64_t finite = finite_in_window(tag);
  if (finite == 0 || !is_known_sum(tag.window.sum)) return {};
  return tag.window.sum / static_cast<double>(finite);
};

inline constexpr auto least = [](const TagValues& tag, double) -> std::optional<double> {
  if (finite_in_window(tag) == 0) return {};
  return tag.window.min;
};

inline constexpr auto greatest = [](const TagValues& tag, double) -> std::optional<double> {
  if (finite_in_window(tag) == 0) return {};
  return tag.window.max;
};

template <std::size_t Index>
inline constexpr auto quantile = [](const TagValues& tag, double) -> std::optional<double> {
  if (!tag.in_window || !tag.has_quantiles) return {};
  return tag.quantiles[Index];
};

inline constexpr auto quantile_error = [](const TagValues& tag, double) -> std::optional<double> {
  if (!tag.in_window || !tag.has_quantiles) return {};
  return tag.quantile_error;
};

// Makes a reader of floats, which some of the oldest metrics use.
template <typename Function>
constexpr auto as_float(Function) {
  return [](const TagValues& tag, double period_s) -> std::optional<float> {
    const std::optional<double> value = Function{}(tag, period_s);
    if (!value) return {};
    return static_cast<float>(*value);
  };
}

}  // namespace pcp::trace::agent
