// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/window_histograms.hpp"

#include <algorithm>
#include <utility>

namespace pcp::trace::agent {

// The offset of this interval's record or, if it has none, of the next later record.
std::size_t PackedBuckets::offset_of(std::int64_t interval) const {
  std::size_t at = 0;
  while (at < records_.size() && header_at(at).interval < interval)
    at += kHeaderBytes + header_at(at).size;
  return at;
}

std::string_view PackedBuckets::find(std::int64_t interval) const {
  const std::size_t at = offset_of(interval);
  return holds(at, interval) ? packed_at(at) : std::string_view();
}

void PackedBuckets::put(std::int64_t interval, std::string_view packed) {
  const std::size_t at = offset_of(interval);
  const std::size_t before = holds(at, interval) ? kHeaderBytes + header_at(at).size : 0;
  const std::size_t after = kHeaderBytes + packed.size();
  const std::size_t size = records_.size() - before + after;
  // Not twice the size, as a vector grows by itself: soon each new record replaces the oldest.
  if (size > records_.capacity()) records_.reserve(size + size / 8);
  const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(at);
  if (after > before) {
    records_.insert(begin, after - before, 0);
  } else {
    records_.erase(begin, begin + static_cast<std::ptrdiff_t>(before - after));
  }
  const auto length = static_cast<std::uint32_t>(packed.size());
  char* to = &records_[at];
  std::memcpy(to, &interval, sizeof interval);
  std::memcpy(to + sizeof interval, &length, sizeof length);
  std::copy(packed.begin(), packed.end(), to + kHeaderBytes);
}

void PackedBuckets::drop_before(std::int64_t interval) {
  const auto old = static_cast<std::ptrdiff_t>(offset_of(interval));
  records_.erase(records_.begin(), records_.begin() + old);
  if (records_.size() < records_.capacity() / 2) records_.shrink_to_fit();
}

// Changes the working histogram and updates the pool's count of memory.
template <typename Change>
void WindowHistograms::change_working(HistogramPool& pool, Change change) {
  const std::size_t before = memory_of(working_);
  change();
  pool.account(before, memory_of(working_));
}

bool WindowHistograms::make_ready(HistogramPool& pool) {
  if (pool.is_full()) return false;
  change_working(pool, [&] { working_.coarsen_to(pool.coarseness()); });
  return true;
}

bool WindowHistograms::merge(std::string_view packed, std::uint64_t total, HistogramPool& pool) {
  if (!make_ready(pool)) return false;
  bool merged = false;
  change_working(pool, [&] { merged = working_.merge_checked(packed, total); });
  return merged;
}

void WindowHistograms::merge(DealtHistogram& values, std::uint64_t until, HistogramPool& pool) {
  if (make_ready(pool)) change_working(pool, [&] { values.deal(until, working_); });
}

void WindowHistograms::merge_late(std::int64_t interval, DealtHistogram& values,
                                  std::uint64_t until, HistogramPool& pool) {
  if (pool.is_full()) return;
  Histogram& sum = pool.scratch();
  sum.coarsen_to(pool.coarseness());
  sum.merge_packed(completed_.find(interval));
  if (values.deal(until, sum) && !sum.empty()) put(interval, sum, pool);
}

void WindowHistograms::put(std::int64_t interval, const Histogram& histogram, HistogramPool& pool) {
  const std::size_t before = completed_.memory_bytes();
  completed_.put(interval, pool.pack(histogram));
  pool.account(before, completed_.memory_bytes());
}

void WindowHistograms::complete(std::int64_t interval, std::int64_t oldest, HistogramPool& pool) {
  const std::size_t before = completed_.memory_bytes();
  completed_.drop_before(oldest);
  pool.account(before, completed_.memory_bytes());
  if (!working_.empty() && interval >= oldest) put(interval, working_, pool);
}

void WindowHistograms::clear_working(HistogramPool& pool) {
  change_working(pool, [&] {
    working_.clear();
    if (pool.coarseness() > 0) working_ = {};  // memory is scarce: packed histograms need it more
  });
}

void WindowHistograms::coarsen(HistogramPool& pool) {
  change_working(pool, [&] { working_.coarsen_to(pool.coarseness()); });
  PackedBuckets coarser;
  completed_.for_each([&](std::int64_t interval, std::string_view packed) {
    Histogram& histogram = pool.scratch();
    histogram.coarsen_to(pool.coarseness());
    histogram.merge_packed(packed);
    coarser.put(interval, pool.pack(histogram));
  });
  pool.account(completed_.memory_bytes(), coarser.memory_bytes());
  completed_ = std::move(coarser);
}

void WindowHistograms::summarise(const WindowSums& sums, HistogramPool& pool) {
  quantiles_.reset();
  Histogram& total = pool.scratch();
  completed_.for_each([&](std::int64_t, std::string_view packed) { total.merge_packed(packed); });
  if (total.empty() || sums.min > sums.max) return;
  quantile_error_ = bins::relative_error(total.coarseness());
  quantiles_.emplace();
  for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
    (*quantiles_)[i] = std::clamp(total.quantile(kQuantiles[i]), sums.min, sums.max);
  }
}

void WindowHistograms::leave(HistogramPool& pool) {
  pool.account(heap_bytes(sizeof *this) + memory_of(working_) + completed_.memory_bytes(), 0);
}

}  // namespace pcp::trace::agent
