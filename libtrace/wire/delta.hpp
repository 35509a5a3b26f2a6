// SPDX-License-Identifier: LGPL-2.1-or-later
// What happened to one tag since the last report: the numbers that the client collects, the wire
// carries and the agent adds up. Merging two deltas loses nothing but the order of their values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pcp::trace {

// How numbers are added up, here and wherever deltas are: what is too great stays at the greatest.
// A count that began again at zero would look like a restart, and an infinite sum, to which an
// honest peer adds the other infinity, would be no number any more. A sum that has been too great
// once stays so, whatever comes: nobody knows it any more.
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
  std::uint64_t count = 0;      // calls, completed transactions
  std::uint64_t aborts = 0;     // aborted transactions, not in count
  std::uint64_t nonfinite = 0;  // of count: NaN and infinite values, kept out of sum, min and max
  std::uint64_t unbinned = 0;   // of count: finite values that no histogram has seen
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();   // of the finite values; infinity if none
  double max = -std::numeric_limits<double>::infinity();  // of the finite values; -infinity if none
  double last = 0;

  bool empty() const { return count == 0 && aborts == 0; }

  // Adds one value and tells whether it is finite, so that a histogram may take it.
  bool add(double value) {
    ++count;
    last = value;
    if (!std::isfinite(value)) {
      ++nonfinite;
      return false;
    }
    add_value(sum, value);
    if (value < min) [[unlikely]]  // most values are neither: a branch is cheaper than a store
      min = value;
    if (value > max) [[unlikely]]
      max = value;
    return true;
  }

  // Adds what happened after everything in this delta.
  void merge(const Delta& later) {
    if (later.count > 0) last = later.last;
    add_calls(count, later.count);
    add_calls(aborts, later.aborts);
    add_calls(nonfinite, later.nonfinite);
    add_calls(unbinned, later.unbinned);
    add_value(sum, later.sum);
    min = std::min(min, later.min);
    max = std::max(max, later.max);
  }
};

}  // namespace pcp::trace
