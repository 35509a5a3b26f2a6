// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/tag_cumulative.hpp"

#include "collector/engine/cumulative_histogram.hpp"

namespace pcp::trace::agent {

void TagCumulative::add(const Histogram& values, HistogramPool& pool) {
  if (left_out_ || values.total() > Histogram::kMaxTotal - count_) return;
  Histogram& sum = pool.scratch();
  sum.coarsen_to(pool.coarseness());
  sum.merge_checked(packed(), count_);
  sum.merge(values);
  store(sum, pool);
}

void TagCumulative::coarsen(HistogramPool& pool) {
  if (packed_.empty()) return;
  Histogram& coarser = pool.scratch();
  coarser.coarsen_to(pool.coarseness());
  coarser.merge_checked(packed(), count_);
  store(coarser, pool);
}

// Stores the sum as finely as there is room.
void TagCumulative::store(Histogram& sum, HistogramPool& pool) {
  std::string_view bytes = pool.pack(sum);
  while (bytes.size() > CumulativeHistogram::kMaxPackedBytes &&
         sum.coarseness() < Histogram::kMaxCoarseness) {
    sum.coarsen();
    bytes = pool.pack(sum);
  }
  const bool too_many = bytes.size() > CumulativeHistogram::kMaxPackedBytes;
  const bool no_room = pool.is_full() && bytes.size() > packed_.size();
  if (too_many || (no_room && packed_.empty() && !pool.is_coarsening())) {
    left_out_ = true;
    put({}, 0, pool);
  } else if (!no_room) {
    put(bytes, sum.total(), pool);
  }
}

void TagCumulative::put(std::string_view packed, std::uint64_t count, HistogramPool& pool) {
  const std::size_t before = heap_bytes(packed_.capacity());
  if (packed.size() > packed_.capacity() || packed.size() < packed_.capacity() / 2) {
    std::vector<char> fitting;
    fitting.reserve(packed.size() + packed.size() / 8);  // a little spare room, not double
    packed_.swap(fitting);
  }
  packed_.assign(packed.begin(), packed.end());
  count_ = count;
  pool.account(before, heap_bytes(packed_.capacity()));
}

}  // namespace pcp::trace::agent
