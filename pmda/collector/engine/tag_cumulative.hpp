// SPDX-License-Identifier: LGPL-2.1-or-later
// The distribution of one tag's values since some time, packed: what comes is added when its
// interval is complete or, late, at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/engine/heap.hpp"
#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/types.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

// Lies on the heap, which the pool is told of as well. Whoever drops one clears the pool.
class TagCumulative {
 public:
  // `before` counts the tag's finite values that were completed before.
  TagCumulative(Time since, std::uint64_t before, HistogramPool& pool)
      : since_(since), before_(before) {
    pool.account(0, heap_bytes(sizeof *this));
  }

  // Adds values. Those for which there is no room are unbinned.
  void add(const Histogram& values, HistogramPool& pool);

  // Brings it down to the pool's coarseness.
  void coarsen(HistogramPool& pool);

  // True if it has no histogram and never will: the pool was full before its first value, or even
  // the coarsest bins were too many.
  bool left_out() const { return left_out_; }

  Time since() const { return since_; }
  std::string_view packed() const { return {packed_.data(), packed_.size()}; }
  std::uint64_t count() const { return count_; }

  // Those that are not binned, if so many finite values of the tag are completed.
  std::uint64_t unbinned(std::uint64_t completed) const {
    return completed - std::min(completed, before_ + count_);
  }

 private:
  void store(Histogram& sum, HistogramPool& pool);
  void put(std::string_view packed, std::uint64_t count, HistogramPool& pool);

  Time since_;
  std::uint64_t before_;
  std::uint64_t count_ = 0;
  std::vector<char> packed_;
  bool left_out_ = false;
};

}  // namespace pcp::trace::agent
