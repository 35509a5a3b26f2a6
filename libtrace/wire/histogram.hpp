// SPDX-License-Identifier: LGPL-2.1-or-later
// The distribution of one tag's values, for percentiles: a log-linear histogram over all finite
// doubles, including negative ones and zero. Every power of two has 32 equal bins, so a bin's
// middle is at most 1.6% away from its values. Only powers of two that occur take memory. Merging
// is exact. Coarsening halves the bins of each power of two.
//
// Used in the client (add) and in the agent (merge, quantile). The wire and the agent's ring store
// it packed: histogram_codec.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "wire/histogram_bins.hpp"

namespace pcp::trace {

class Histogram {
 public:
  static constexpr unsigned kMaxCoarseness = bins::kMaxCoarseness;

  // No packed histogram counts more values.
  static constexpr std::uint64_t kMaxTotal = std::numeric_limits<std::uint64_t>::max() / 2;

  Histogram() { near_.fill(kNoNear); }

  // Counts one finite value.
  void add(double value) {
    const std::int32_t bin = bins::bin_of(value);
    if (coarseness_ == 0) [[likely]]  // the usual case when adding single values
      add_to(index_of(bin, 0), 1);    // a constant avoids shifts
    else
      add_to(index_of(bin >> coarseness_, coarseness_), 1);
    ++total_;
  }

  // Adds all counts of another one. Takes the greater coarseness of both.
  void merge(const Histogram& other);

  // Adds a packed histogram. False, with nothing changed, if the bytes are invalid.
  bool merge_packed(std::string_view packed);

  // The same for bytes that read_packed_total has checked, with its total: parses them only once.
  // False, with nothing changed, if the sum would exceed kMaxTotal.
  bool merge_checked(std::string_view packed, std::uint64_t total);

  // Adds so many values of one bin with this coarseness. Requires: at most kMaxTotal in all.
  void add_bin(std::int32_t bin, unsigned coarseness, std::uint64_t count);

  // Appends this histogram's bytes to `out`.
  void pack(std::string& out) const;

  // True if merge_packed would take these bytes; gives their number of values.
  static bool read_packed_total(std::string_view packed, std::uint64_t& total);

  // Joins neighbouring bins and frees memory. Does nothing at kMaxCoarseness.
  void coarsen();
  unsigned coarseness() const { return coarseness_; }

  // Coarsens to at least this. Requires: at most kMaxCoarseness.
  void coarsen_to(unsigned coarseness) {
    while (coarseness_ < coarseness) coarsen();
  }

  // The middle of the bin of the quantile `q` (0 to 1). Requires: not empty.
  double quantile(double q) const { return bins::middle_of(quantile_bin(q), coarseness_); }

  // The edges of that bin.
  bins::Edges quantile_edges(double q) const {
    return bins::edges_of(quantile_bin(q), coarseness_);
  }

  std::uint64_t total() const { return total_; }
  bool empty() const { return total_ == 0; }

  // Forgets all counts and returns to the finest bins. Keeps the memory, but no chunks: the next
  // values allocate chunks as needed, so unused ones are never read.
  void clear();

  // Memory outside the object itself.
  std::size_t memory_bytes() const;

 private:
  // The bins of one power of two and sign: counts from nth << (5 - coarseness) on. Exists only if
  // a value was counted in it.
  struct Chunk {
    std::int16_t number;  // bin >> 5, uncoarsened
    std::uint16_t nth;
  };

  // The index of a bin's count. The bin has this histogram's coarseness. The caller must add to the
  // count: no chunk stays empty.
  std::size_t index_of(std::int32_t bin) { return index_of(bin, coarseness_); }
  std::size_t index_of(std::int32_t bin, unsigned coarseness) {
    const unsigned chunk_bits = kMaxCoarseness - coarseness;
    const std::int32_t number = bin >> chunk_bits;
    const std::int32_t near = near_[static_cast<std::size_t>(number) % near_.size()];
    auto chunk = static_cast<std::size_t>(near) % kNearChunks;
    if (near >> kNearBits != number) [[unlikely]]
      chunk = find_or_insert(number);
    const auto offset = static_cast<std::size_t>(bin) & ((std::size_t{1} << chunk_bits) - 1);
    return (chunk << chunk_bits) + offset;
  }

  void add_to(std::size_t index, std::uint64_t count) {
    const std::uint64_t sum = low_[index] + count;
    if (sum > kMaxLow) [[unlikely]]
      carry(index, sum >> kLowBits);
    low_[index] = static_cast<std::uint16_t>(sum);
  }
  void carry(std::size_t index, std::uint64_t count);
  std::uint64_t count_at(std::size_t index) const {
    return high_.empty() ? low_[index] : low_[index] | high_[index] << kLowBits;
  }
  std::size_t find_or_insert(std::int32_t number);
  std::int32_t quantile_bin(double q) const;
  unsigned make_as_coarse_as(std::string_view packed);
  std::uint32_t occupied(const Chunk& chunk) const;
  std::size_t first_index(const Chunk& chunk) const { return chunk.nth * bins_per_chunk(); }
  std::size_t bins_per_chunk() const { return std::size_t{1} << (kMaxCoarseness - coarseness_); }

  static constexpr unsigned kNearBits = 4;
  static constexpr std::size_t kNearChunks = 1 << kNearBits;
  static constexpr std::int16_t kNoNear = std::numeric_limits<std::int16_t>::min();
  static_assert(~bins::kGreatest >> kMaxCoarseness > kNoNear >> kNearBits);  // no chunk's number
  static constexpr unsigned kLowBits = 16;
  static constexpr std::uint64_t kMaxLow = (1 << kLowBits) - 1;

  // Everything that add() needs, in 56 bytes. near_[number % 16] is number << 4 | nth of a recent
  // chunk. nth has four bits there: chunks after the first 16 are always searched for.
  std::array<std::int16_t, 16> near_;
  std::uint64_t total_ = 0;
  unsigned coarseness_ = 0;
  std::vector<std::uint16_t> low_;   // 16 bits, so that a thousand tags fit into a near cache
  std::vector<Chunk> chunks_;        // ascending by number
  std::vector<std::uint64_t> high_;  // the counts' higher bits; empty while all are 0
};

}  // namespace pcp::trace
