// The numbers that one bucket, or all completed ones together, hold of one tag; and a tag's
// buckets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "wire/delta.hpp"

namespace pcp::trace::agent {

// What rates, averages and extrema are made of: a Delta without what no window metric needs.
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
    sum += value;
    min = std::min(min, value);
    max = std::max(max, value);
  }

  template <typename Sums>  // WindowSums or Delta
  void merge(const Sums& other) {
    count += other.count;
    nonfinite += other.nonfinite;
    sum += other.sum;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
};

// The buckets of one tag that are not empty, oldest first: memory grows with what happens, not with
// the number of buckets that the window has. The one of the current interval is the working one.
class WindowBuckets {
 public:
  // Gives an interval's bucket, made if necessary. `most` is how many there can be.
  WindowSums& at(std::int64_t interval, std::size_t most) {
    if (!buckets_.empty() && buckets_.back().interval == interval) [[likely]] {
      return buckets_.back().sums;
    }
    return find_or_insert(interval, most);
  }

  // Forgets all that is older, and gives the memory back when nothing is left.
  void drop_before(std::int64_t interval);

  WindowSums total() const;
  bool empty() const { return buckets_.empty(); }
  std::size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::int64_t interval = 0;
    WindowSums sums;
  };
  WindowSums& find_or_insert(std::int64_t interval, std::size_t most);

  std::vector<Bucket> buckets_;
};

}  // namespace pcp::trace::agent
