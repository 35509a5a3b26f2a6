// The distributions of one tag's values: the working bucket's as a histogram, those of the
// completed buckets packed, and the quantiles over them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/histogram_pool.hpp"
#include "engine/window_sums.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

using Quantiles = std::array<double, kQuantiles.size()>;

// Ownership: whoever drops one that is not empty calls clear() first, or clears the pool.
class WindowHistograms {
 public:
  // Counts a value in the working bucket. False if the pool is full.
  bool add(double value, HistogramPool& pool) {
    if (working_.coarseness() < pool.coarseness() || pool.full()) [[unlikely]] {
      if (!make_ready(pool)) return false;
    }
    const std::size_t before = working_.memory_bytes();
    working_.add(value);
    const std::size_t after = working_.memory_bytes();
    if (after != before) [[unlikely]] {
      pool.account(before, after);
    }
    return true;
  }

  // Adds a packed histogram, which counts so many values, to the working bucket. False if it could
  // not be added.
  bool merge(std::string_view packed, std::uint64_t total, HistogramPool& pool);

  // The same with a share of it, and with a completed bucket.
  bool merge_share(std::string_view packed, double share, HistogramPool& pool);
  bool merge_late(std::int64_t interval, std::string_view packed, double share,
                  HistogramPool& pool);

  // Completes the working bucket, which is this interval's, and forgets what is older than
  // `oldest`.
  void advance(std::int64_t interval, std::int64_t oldest, HistogramPool& pool);

  // Brings everything down to the pool's coarseness.
  void coarsen(HistogramPool& pool);

  // Computes the quantiles over the completed buckets, whose sums these are.
  void summarise(const WindowSums& sums, HistogramPool& pool);

  // Nothing if the completed buckets hold no value.
  const std::optional<Quantiles>& quantiles() const { return quantiles_; }

  void clear(HistogramPool& pool);

 private:
  struct Packed {
    std::int64_t interval = 0;
    std::uint32_t size = 0;
    std::unique_ptr<char[]> bytes;

    std::string_view view() const { return {bytes.get(), size}; }
    std::size_t memory_bytes() const { return sizeof(Packed) + size; }
  };
  bool make_ready(HistogramPool& pool);
  static void store(const Histogram& histogram, Packed& packed, HistogramPool& pool);

  Histogram working_;
  std::vector<Packed> completed_;  // oldest first
  std::optional<Quantiles> quantiles_;
};

}  // namespace pcp::trace::agent
