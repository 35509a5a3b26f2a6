// SPDX-License-Identifier: LGPL-2.1-or-later
// The packed distribution of one tag's values since some time. Values are added when their interval
// completes; late values are added at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/heap.hpp"
#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/types.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

// Lies on the heap; its own size counts in the pool, too. Before deleting one, clear the pool.
class TagCumulative {
 public:
  // `before` is the number of the tag's finite values that were completed earlier.
  TagCumulative(Instant since, std::uint64_t before, HistogramPool& pool)
      : since_(since), before_(before) {
    pool.account(0, heap_bytes(sizeof *this));
  }

  // Adds values. Values without room are unbinned.
  void add(const Histogram& values, HistogramPool& pool);

  // Coarsens the histogram to the pool's coarseness.
  void coarsen(HistogramPool& pool);

  // True if the tag permanently has no histogram: the pool was full before its first value, or even
  // the coarsest bins were too many.
  bool is_left_out() const { return left_out_; }

  Instant since() const { return since_; }
  std::string_view packed() const { return {packed_.data(), packed_.size()}; }
  std::uint64_t count() const { return count_; }

  // The number of unbinned values, if `completed` finite values of the tag are completed.
  std::uint64_t unbinned(std::uint64_t completed) const {
    return completed - std::min(completed, before_ + count_);
  }

 private:
  void store(Histogram& sum, HistogramPool& pool);
  void put(std::string_view packed, std::uint64_t count, HistogramPool& pool);

  Instant since_;
  std::uint64_t before_;
  std::uint64_t count_ = 0;
  std::vector<char> packed_;
  bool left_out_ = false;
};

}  // namespace pcp::trace::agent
