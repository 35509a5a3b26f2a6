// SPDX-License-Identifier: LGPL-2.1-or-later
// The distributions of one tag's values: the working bucket's as a histogram, those of the
// completed buckets packed, and the quantiles over them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/engine/heap.hpp"
#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/packed_buckets.hpp"
#include "collector/engine/types.hpp"
#include "collector/engine/window_sums.hpp"
#include "wire/dealt_histogram.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

using Quantiles = std::array<double, kQuantiles.size()>;

// Lies on the heap, which the pool is told of as well. Whoever drops one calls leave() first, or
// clears the pool.
class WindowHistograms {
 public:
  explicit WindowHistograms(HistogramPool& pool) { pool.account(0, heap_bytes(sizeof *this)); }
  void leave(HistogramPool& pool);

  // Counts a value in the working bucket. False if the pool is full.
  bool add(double value, HistogramPool& pool) {
    if (working_.coarseness() < pool.coarseness() || pool.full()) [[unlikely]] {
      if (!make_ready(pool)) return false;
    }
    const std::size_t before = working_.memory_bytes();
    working_.add(value);
    if (working_.memory_bytes() != before) [[unlikely]] {
      pool.account(heap_bytes_of_histogram(before), memory_of(working_));
    }
    return true;
  }

  // Adds a packed histogram, which counts so many values, to the working bucket. False if it could
  // not be added.
  bool merge(std::string_view packed, std::uint64_t total, HistogramPool& pool);

  // Has values dealt to the working or to a completed bucket, until so many of all are gone. If
  // there is no room for them, they are left.
  void merge(DealtHistogram& values, std::uint64_t until, HistogramPool& pool);
  void merge_late(std::int64_t interval, DealtHistogram& values, std::uint64_t until,
                  HistogramPool& pool);

  // Completes the working bucket, which is this interval's, and forgets what is older than
  // `oldest`. It stays to be looked at until it is cleared for the next interval.
  void complete(std::int64_t interval, std::int64_t oldest, HistogramPool& pool);
  const Histogram& working() const { return working_; }
  void clear_working(HistogramPool& pool);

  // Brings everything down to the pool's coarseness.
  void coarsen(HistogramPool& pool);

  // Computes the quantiles over the completed buckets, whose sums these are.
  void summarise(const WindowSums& sums, HistogramPool& pool);

  // A completed interval's, packed; empty if it has none.
  std::string_view of(std::int64_t interval) const { return completed_.find(interval); }

  // Nothing if the completed buckets hold no value.
  const std::optional<Quantiles>& quantiles() const { return quantiles_; }

  // How far off they are at most, as a part of the true value.
  double quantile_error() const { return quantile_error_; }

 private:
  // Of its two vectors, whose share of the heap's own is about that of two pieces.
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
