// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers of one tag in one bucket or in all completed ones; and a tag's buckets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "wire/delta.hpp"

namespace pcp::trace::agent {

// The numbers for rates, averages and extrema: the part of a Delta that window metrics need.
struct WindowSums {
  std::uint64_t count = 0;
  std::uint64_t nonfinite = 0;
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  void add(double value) {
    ++count;
    if (!std::isfinite(value)) {
      ++nonfinite;
      return;
    }
    add_value(sum, value);
    min = std::min(min, value);
    max = std::max(max, value);
  }

  template <typename Sums>  // WindowSums or Delta
  void merge(const Sums& other) {
    add_calls(count, other.count);
    add_calls(nonfinite, other.nonfinite);
    add_value(sum, other.sum);
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
};

// The buckets of one tag: the working bucket, and the completed ones from the oldest to the newest
// with values. The owner knows the working bucket's interval. Memory is only taken when a bucket
// completes.
class WindowBuckets {
 public:
  WindowSums& working() { return working_; }
  const WindowSums& working() const { return working_; }

  // Gives a completed interval's bucket to add to, making it if necessary. `most` is the limit of
  // buckets. Requires: buckets older than the window were dropped.
  WindowSums& completed(std::int64_t interval, std::size_t most);

  // Completes the working bucket, which belongs to `interval`, and forgets buckets older than
  // `oldest`. Frees the memory when no bucket is left.
  void advance(std::int64_t interval, std::int64_t oldest, std::size_t most);

  WindowSums total_of_completed() const;
  bool empty() const { return working_.count == 0 && completed_.empty(); }
  std::size_t size() const { return completed_.size() + 1; }

 private:
  std::int64_t end() const { return first_ + static_cast<std::int64_t>(completed_.size()); }
  void drop_before(std::int64_t interval);

  WindowSums working_;
  std::int64_t first_ = 0;  // interval of the first completed one; the others follow without a gap
  std::vector<WindowSums> completed_;
};

}  // namespace pcp::trace::agent
