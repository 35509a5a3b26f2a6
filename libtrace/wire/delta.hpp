// SPDX-License-Identifier: LGPL-2.1-or-later
// One tag's numbers since the last report: the client collects them, the wire carries them, the
// agent adds them. Merging two deltas loses only the order of their values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pcp::trace {

// Saturating sums, also for code that uses deltas. A count that wraps to zero would look like a
// restart, and the sum of both infinities is NaN. A sum that has overflowed once stays at the
// limit, since its true value is lost.
inline constexpr std::uint64_t kMostCalls = std::numeric_limits<std::int64_t>::max();

inline void add_calls(std::uint64_t& count, std::uint64_t more) {
  count = std::min(count + more, kMostCalls);
}

inline bool is_known_sum(double sum) { return std::abs(sum) < std::numeric_limits<double>::max(); }

// Requires: both are finite.
inline void add_value(double& sum, double value) {
  const bool are_known = is_known_sum(sum) && is_known_sum(value);
  sum += value;
  if (!are_known || !is_known_sum(sum)) [[unlikely]]
    sum = std::copysign(std::numeric_limits<double>::max(), sum);
}

struct Delta {
  std::uint64_t count = 0;      // calls; completed, or failed transactions
  std::uint64_t nonfinite = 0;  // of count: NaN and infinite values, kept out of sum, min and max
  std::uint64_t unbinned = 0;   // of count: finite values that no histogram has seen
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();   // of the finite values; infinity if none
  double max = -std::numeric_limits<double>::infinity();  // of the finite values; -infinity if none
  double last = 0;

  bool empty() const { return count == 0; }

  // Adds a value. True if finite: then a histogram may take it.
  bool add(double value) {
    ++count;
    last = value;
    if (!std::isfinite(value)) {
      ++nonfinite;
      return false;
    }
    add_value(sum, value);
    if (value < min) [[unlikely]]  // rare: a branch is cheaper than a store
      min = value;
    if (value > max) [[unlikely]]
      max = value;
    return true;
  }

  // Adds a delta that is later than this one.
  void merge(const Delta& later) {
    if (later.count > 0) last = later.last;
    add_calls(count, later.count);
    add_calls(nonfinite, later.nonfinite);
    add_calls(unbinned, later.unbinned);
    add_value(sum, later.sum);
    min = std::min(min, later.min);
    max = std::max(max, later.max);
  }
};

}  // namespace pcp::trace
