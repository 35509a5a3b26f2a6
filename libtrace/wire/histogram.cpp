// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/histogram.hpp"

#include <algorithm>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "wire/histogram_codec.hpp"

namespace pcp::trace {

namespace {

// A bit for each of 32 counts, set if not zero. Finds a histogram's few occupied bins without a
// branch per bin.
std::uint32_t nonzero_counts(const std::uint16_t* counts) {
#ifdef __SSE2__
  const auto* vectors = reinterpret_cast<const __m128i*>(counts);
  const auto zero_bytes = [vectors](int i) {
    const __m128i zero = _mm_setzero_si128();
    return _mm_packs_epi16(_mm_cmpeq_epi16(_mm_loadu_si128(vectors + i), zero),
                           _mm_cmpeq_epi16(_mm_loadu_si128(vectors + i + 1), zero));
  };
  const auto low = static_cast<std::uint32_t>(_mm_movemask_epi8(zero_bytes(0)));
  const auto high = static_cast<std::uint32_t>(_mm_movemask_epi8(zero_bytes(2)));
  return ~(low | high << 16);
#else
  std::uint32_t bits = 0;
  for (int i = 32; i-- > 0;) bits = bits << 1 | std::uint32_t{counts[i] != 0};
  return bits;
#endif
}

}  // namespace

bool Histogram::read_packed_total(std::string_view packed, std::uint64_t& total) {
  std::uint64_t sum = 0;
  bool overflow = false;
  const bool valid = for_each_packed_bin(packed, [&](std::int32_t, std::uint64_t count) {
    sum += count;
    overflow |= sum > kMaxTotal;
    sum &= kMaxTotal;
  });
  total = sum;
  return valid && !overflow;
}

// Coarsens to at least the packed histogram's coarseness. Gives the shift from its bins to ours.
unsigned Histogram::make_as_coarse_as(std::string_view packed) {
  coarsen_to(packed_coarseness(packed));
  return coarseness_ - packed_coarseness(packed);
}

bool Histogram::merge_packed(std::string_view packed) {
  std::uint64_t total = 0;
  return read_packed_total(packed, total) && merge_checked(packed, total);
}

bool Histogram::merge_checked(std::string_view packed, std::uint64_t total) {
  if (packed.empty()) return true;
  if (total > kMaxTotal - total_) return false;
  const unsigned shift = make_as_coarse_as(packed);
  // Bins ascend: most are in the same chunk as the bin before.
  const std::size_t per_chunk = bins_per_chunk();
  const unsigned chunk_bits = kMaxCoarseness - coarseness_;
  std::int32_t number = std::numeric_limits<std::int32_t>::min();
  std::size_t first = 0;
  for_each_packed_bin(packed, [&](std::int32_t bin, std::uint64_t count) {
    bin = bin >> shift;
    if (bin >> chunk_bits != number) {
      number = bin >> chunk_bits;
      first = index_of(number << chunk_bits);
    }
    add_to(first + (static_cast<std::size_t>(bin) & (per_chunk - 1)), count);
  });
  total_ += total;
  return true;
}

void Histogram::add_bin(std::int32_t bin, unsigned coarseness, std::uint64_t count) {
  coarsen_to(coarseness);
  add_to(index_of(bin >> (coarseness_ - coarseness)), count);
  total_ += count;
}

void Histogram::pack(std::string& out) const {
  if (empty()) return;
  constexpr std::size_t kCountsInLine = 32;  // with many tags the counts are in no near cache
  for (std::size_t i = 0; i < low_.size(); i += kCountsInLine) __builtin_prefetch(&low_[i]);

  constexpr std::size_t kMaxChunkBytes = (1 << kMaxCoarseness) * kMaxPackedBinBytes;
  std::array<char, 4 * kMaxChunkBytes> buffer;
  char* const full = buffer.data() + 3 * kMaxChunkBytes;  // the last room for a whole chunk
  // Like count_at(), but with a local: the compiler assumes that output writes may change members.
  const std::uint64_t* const high = high_.empty() ? nullptr : high_.data();
  const auto per_chunk = static_cast<std::int32_t>(bins_per_chunk());
  const Chunk& front = chunks_.front();
  PackedEnd end = begin_packed(buffer.data(), coarseness_,
                               front.number * per_chunk + std::countr_zero(occupied(front)));
  for (const Chunk& chunk : chunks_) {
    const std::size_t first = first_index(chunk);
    const std::uint16_t* const low = &low_[first];
    const std::int32_t begin = chunk.number * per_chunk;
    std::uint32_t left = occupied(chunk);
    if (left == ~std::uint32_t{0} && end.next == begin && high == nullptr &&
        write_short_tokens(end.to, low)) {
      end = {end.to + per_chunk, begin + per_chunk};
      left = 0;
    }
    for (; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      std::uint64_t count = low[i];
      if (high != nullptr) [[unlikely]]
        count |= high[first + static_cast<std::size_t>(i)] << kLowBits;
      end = write_bin(end, begin + i, count);
    }
    if (end.to <= full) continue;
    out.append(buffer.data(), end.to);
    end.to = buffer.data();
  }
  out.append(buffer.data(), end.to);
}

// A bit for each bin of a chunk, set if its count is not zero.
std::uint32_t Histogram::occupied(const Chunk& chunk) const {
  const std::size_t first = first_index(chunk);
  if (coarseness_ == 0 && high_.empty()) [[likely]]
    return nonzero_counts(&low_[first]);
  std::uint32_t bits = 0;
  for (std::size_t i = bins_per_chunk(); i-- > 0;)
    bits = bits << 1 | std::uint32_t{count_at(first + i) != 0};
  return bits;
}

void Histogram::carry(std::size_t index, std::uint64_t count) {
  if (high_.empty()) high_.resize(low_.size());
  high_[index] += count;
}

void Histogram::merge(const Histogram& other) {
  coarsen_to(other.coarseness_);
  const unsigned shift = coarseness_ - other.coarseness_;
  const auto per_chunk = static_cast<std::int32_t>(bins_per_chunk());
  for (const Chunk& chunk : other.chunks_) {
    const std::size_t from = other.first_index(chunk);
    const std::size_t to = index_of(chunk.number * per_chunk);
    for (std::size_t i = 0; i < other.bins_per_chunk(); ++i)
      add_to(to + (i >> shift), other.count_at(from + i));
  }
  total_ += other.total_;
}

void Histogram::coarsen() {
  if (coarseness_ == kMaxCoarseness) return;
  // A chunk has an even number of bins and keeps its order: one pass suffices.
  const std::size_t size = low_.size() / 2;
  const auto sum_at = [this](std::size_t i) { return count_at(2 * i) + count_at(2 * i + 1); };
  for (std::size_t i = 0; i < size && high_.empty(); ++i)
    if (sum_at(i) > kMaxLow) carry(0, 0);  // may throw, so before any change
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t sum = sum_at(i);
    low_[i] = static_cast<std::uint16_t>(sum);
    if (!high_.empty()) high_[i] = sum >> kLowBits;
  }
  low_.resize(size);
  low_.shrink_to_fit();
  if (!high_.empty()) high_.resize(low_.size());
  high_.shrink_to_fit();
  ++coarseness_;
}

std::int32_t Histogram::quantile_bin(double q) const {
  const double share = std::clamp(q, 0.0, 1.0) * static_cast<double>(total_);
  std::uint64_t rank = total_;
  if (share < static_cast<double>(total_)) {
    rank = static_cast<std::uint64_t>(share);
    if (static_cast<double>(rank) < share)
      ++rank;  // rounds up without libm, which a client may lack
  }
  rank = std::clamp<std::uint64_t>(rank, 1, total_);
  std::uint64_t passed = 0;
  const std::size_t per_chunk = bins_per_chunk();
  for (const Chunk& chunk : chunks_) {
    const std::size_t first = first_index(chunk);
    for (std::size_t i = 0; i < per_chunk; ++i) {
      passed += count_at(first + i);
      if (passed >= rank)
        return chunk.number * static_cast<std::int32_t>(per_chunk) + static_cast<std::int32_t>(i);
    }
  }
  return 0;  // unreachable: the bins add up to the total
}

void Histogram::clear() {
  chunks_.clear();
  low_.clear();
  high_.clear();
  near_.fill(kNoNear);
  total_ = 0;
  coarseness_ = 0;
}

std::size_t Histogram::memory_bytes() const {
  return chunks_.capacity() * sizeof(Chunk) + low_.capacity() * sizeof(std::uint16_t) +
         high_.capacity() * sizeof(std::uint64_t);
}

// Gives the chunk's nth; inserts the chunk if needed.
[[gnu::noinline]] std::size_t Histogram::find_or_insert(std::int32_t number) {
  const auto below = [](const Chunk& chunk, std::int32_t wanted) { return chunk.number < wanted; };
  auto at = std::lower_bound(chunks_.begin(), chunks_.end(), number, below);
  Chunk chunk{static_cast<std::int16_t>(number), static_cast<std::uint16_t>(chunks_.size())};
  if (at != chunks_.end() && at->number == number) {
    chunk = *at;
  } else {
    low_.resize((chunks_.size() + 1) * bins_per_chunk());
    if (!high_.empty()) high_.resize(low_.size());
    chunks_.insert(at, chunk);
  }
  if (chunk.nth < kNearChunks)
    near_[static_cast<std::size_t>(number) % near_.size()] =
        static_cast<std::int16_t>(number << kNearBits | chunk.nth);
  return chunk.nth;
}

}  // namespace pcp::trace
