// What happened to one tag since the last report: the numbers that the client collects, the wire
// carries and the agent adds up. Merging two deltas loses nothing but the order of their values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pcp::trace {

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
    sum += value;
    if (value < min) [[unlikely]]  // most values are neither: a branch is cheaper than a store
      min = value;
    if (value > max) [[unlikely]]
      max = value;
    return true;
  }

  // Adds what happened after everything in this delta.
  void merge(const Delta& later) {
    if (later.count > 0) last = later.last;
    count += later.count;
    aborts += later.aborts;
    nonfinite += later.nonfinite;
    unbinned += later.unbinned;
    sum += later.sum;
    min = std::min(min, later.min);
    max = std::max(max, later.max);
  }
};

}  // namespace pcp::trace
