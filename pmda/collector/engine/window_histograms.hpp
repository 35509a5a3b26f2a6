// SPDX-License-Identifier: LGPL-2.1-or-later
// The distributions of one tag's values: the working bucket's as a histogram, those of completed
// buckets packed, and the quantiles over the latter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/heap.hpp"
#include "collector/engine/dealt_histogram.hpp"
#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/types.hpp"
#include "collector/engine/window_sums.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

// Keeps a packed histogram for each completed interval that has values. All are kept in one vector
// of bytes, the oldest first:
//
//   interval, size, packed bytes | interval, size, packed bytes | ...
//
// Most histograms have only a few bytes, so separate allocations would cost more than the data.
class PackedBuckets {
 public:
  // Calls visit(interval, packed) for each interval, from the oldest to the newest.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t at = 0; at < records_.size();) {
      const Header header = header_at(at);
      visit(header.interval, packed_at(at));
      at += kHeaderBytes + header.size;
    }
  }

  // Gives the packed histogram of an interval; empty if it has none.
  std::string_view find(std::int64_t interval) const;

  // Sets the packed histogram of an interval.
  void put(std::int64_t interval, std::string_view packed);

  // Forgets the intervals before this one.
  void drop_before(std::int64_t interval);

  std::size_t memory_bytes() const { return heap_bytes(records_.capacity()); }

 private:
  struct Header {
    std::int64_t interval;
    std::uint32_t size;  // bytes of the packed histogram that follows
  };
  static constexpr std::size_t kHeaderBytes = sizeof(std::int64_t) + sizeof(std::uint32_t);

  Header header_at(std::size_t at) const {
    Header header;
    std::memcpy(&header.interval, &records_[at], sizeof header.interval);
    std::memcpy(&header.size, &records_[at + sizeof header.interval], sizeof header.size);
    return header;
  }
  std::string_view packed_at(std::size_t at) const {
    return {records_.data() + at + kHeaderBytes, header_at(at).size};
  }
  std::size_t offset_of(std::int64_t interval) const;
  bool holds(std::size_t at, std::int64_t interval) const {
    return at < records_.size() && header_at(at).interval == interval;
  }

  std::vector<char> records_;
};

using Quantiles = std::array<double, kQuantiles.size()>;

// Lies on the heap; its own size counts in the pool, too. Before deleting one, call leave() or
// clear the pool.
class WindowHistograms {
 public:
  explicit WindowHistograms(HistogramPool& pool) { pool.account(0, heap_bytes(sizeof *this)); }
  void leave(HistogramPool& pool);

  // Adds a value to the working bucket. False if the pool is full.
  bool add(double value, HistogramPool& pool) {
    if (working_.coarseness() < pool.coarseness() || pool.is_full()) [[unlikely]] {
      if (!make_ready(pool)) return false;
    }
    const std::size_t before = working_.memory_bytes();
    working_.add(value);
    if (working_.memory_bytes() != before) [[unlikely]] {
      pool.account(heap_bytes_of_histogram(before), memory_of(working_));
    }
    return true;
  }

  // Adds a packed histogram of `total` values to the working bucket. False on failure.
  bool merge(std::string_view packed, std::uint64_t total, HistogramPool& pool);

  // Deals values to the working or to a completed bucket, until `until` of all are dealt. Without
  // room the values stay undealt.
  void merge(DealtHistogram& values, std::uint64_t until, HistogramPool& pool);
  void merge_late(std::int64_t interval, DealtHistogram& values, std::uint64_t until,
                  HistogramPool& pool);

  // Completes the working bucket, which belongs to `interval`, and forgets buckets older than
  // `oldest`. working() keeps its values until clear_working().
  void complete(std::int64_t interval, std::int64_t oldest, HistogramPool& pool);
  const Histogram& working() const { return working_; }
  void clear_working(HistogramPool& pool);

  // Coarsens everything to the pool's coarseness.
  void coarsen(HistogramPool& pool);

  // Computes the quantiles over the completed buckets. `sums` are the sums of those buckets.
  void summarise(const WindowSums& sums, HistogramPool& pool);

  // Nothing if the completed buckets hold no values.
  const std::optional<Quantiles>& quantiles() const { return quantiles_; }

  // The greatest relative error of the quantiles.
  double quantile_error() const { return quantile_error_; }

 private:
  // For the histogram's two vectors. Their heap overhead is about that of two allocations.
  static std::size_t heap_bytes_of_histogram(std::size_t bytes) {
    constexpr std::size_t kSecondPiece = 16;
    return bytes == 0 ? 0 : heap_bytes(bytes + kSecondPiece);
  }
  static std::size_t memory_of(const Histogram& histogram) {
    return heap_bytes_of_histogram(histogram.memory_bytes());
  }
  template <typename Change>
  void change_working(HistogramPool& pool, Change change);
  void put(std::int64_t interval, const Histogram& histogram, HistogramPool& pool);
  bool make_ready(HistogramPool& pool);

  Histogram working_;
  PackedBuckets completed_;
  std::optional<Quantiles> quantiles_;
  double quantile_error_ = 0;
};

}  // namespace pcp::trace::agent
