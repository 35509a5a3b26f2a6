// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that read a tag's values, for the metric tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/engine/engine.hpp"

namespace pcp::trace::agent {

inline std::uint64_t finite_in_window(const TagValues& tag) {
  return tag.in_window ? tag.window.count - tag.window.nonfinite : 0;
}

inline std::uint64_t count(const TagValues& tag, double) { return tag.total.count; }
inline double sum(const TagValues& tag, double) { return tag.total.sum; }
inline double last(const TagValues& tag, double) { return tag.total.last; }

inline std::optional<double> rate(const TagValues& tag, double period_s) {
  if (!tag.in_window || tag.window.count == 0) return {};
  return static_cast<double>(tag.window.count) / period_s;
}

inline std::optional<double> average(const TagValues& tag, double) {
  const std::uint64_t finite = finite_in_window(tag);
  if (finite == 0) return {};
  return tag.window.sum / static_cast<double>(finite);
}

inline std::optional<double> least(const TagValues& tag, double) {
  if (finite_in_window(tag) == 0) return {};
  return tag.window.min;
}

inline std::optional<double> greatest(const TagValues& tag, double) {
  if (finite_in_window(tag) == 0) return {};
  return tag.window.max;
}

template <std::size_t Index>
std::optional<double> quantile(const TagValues& tag, double) {
  if (!tag.in_window || !tag.has_quantiles) return {};
  return tag.quantiles[Index];
}

// Makes a reader that gives float, as some of the oldest metrics are.
template <std::optional<double> Read(const TagValues&, double)>
std::optional<float> as_float(const TagValues& tag, double period_s) {
  const std::optional<double> value = Read(tag, period_s);
  if (!value) return {};
  return static_cast<float>(*value);
}

}  // namespace pcp::trace::agent
