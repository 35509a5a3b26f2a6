// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/histogram.hpp"

#include <algorithm>
#include <cmath>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace pcp::trace {

namespace {

constexpr std::size_t kMaxVarintBytes = 10;

char* write_varint(char* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

// Kept out of pack()'s loop, which has no register to spare.
[[gnu::noinline]] char* write_long_token(char* to, std::uint64_t token, std::uint32_t skipped) {
  to = write_varint(to, token);
  return skipped > 0 ? write_varint(to, skipped - 1) : to;
}

struct Varint {
  const char* next;  // null if there was none
  std::uint64_t value;
};

// A number has one encoding only: no superfluous zero byte at its end, no more than 64 bits.
[[gnu::noinline]] Varint read_long_varint(const char* at, const char* end) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; at != end && shift < 64; shift += 7) {
    const std::uint64_t byte = static_cast<unsigned char>(*at++);
    value |= (byte & 0x7f) << shift;
    if (byte >= 0x80) continue;
    const bool valid = byte != 0 && (shift < 63 || byte == 1);
    return {valid ? at : nullptr, value};
  }
  return {nullptr, 0};
}

inline Varint read_varint(const char* at, const char* end) {
  if (at != end) [[likely]] {
    const auto low = static_cast<unsigned char>(at[0]);
    if (low < 0x80) return {at + 1, low};
    if (at + 1 != end) {
      const auto high = static_cast<unsigned char>(at[1]);
      if (high < 0x80 && high != 0) return {at + 2, (low & 0x7fU) | unsigned{high} << 7};
    }
  }
  return read_long_varint(at, end);
}

std::uint64_t zigzag(std::int32_t value) {
  return static_cast<std::uint32_t>(value) << 1 ^ static_cast<std::uint32_t>(value >> 31);
}

std::int32_t unzigzag(std::uint64_t value) {
  return static_cast<std::int32_t>(value >> 1) ^ -static_cast<std::int32_t>(value & 1);
}

// A bit for each of 32 counts: set if it is not zero.
std::uint32_t nonzero(const std::uint16_t* words) {
#ifdef __SSE2__
  const auto* vectors = reinterpret_cast<const __m128i*>(words);
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
  for (int i = 32; i-- > 0;) bits = bits << 1 | std::uint32_t{words[i] != 0};
  return bits;
#endif
}

// Writes the tokens of 32 neighbouring bins, if each of them takes one byte; the compiler does it
// with vectors.
bool write_short_tokens(char* to, const std::uint16_t* counts) {
  unsigned any = 0;
  for (int i = 0; i < 32; ++i) any |= counts[i];
  if (any >= 0x40) return false;
  for (int i = 0; i < 32; ++i) to[i] = static_cast<char>(counts[i] << 1);
  return true;
}

unsigned packed_coarseness(std::string_view packed) {
  return static_cast<unsigned char>(packed.front());
}

}  // namespace

// Calls visit(bin, count) for each bin of a packed histogram. False at the first error. All its
// state is local, so that it stays in registers: the agent goes through millions of bins per
// second.
template <typename Visit>
bool Histogram::walk(std::string_view packed, Visit visit) {
  if (packed.empty()) return true;
  const char* const end = packed.data() + packed.size();
  const unsigned coarseness = packed_coarseness(packed);
  if (coarseness > kMaxCoarseness) return false;
  const std::int32_t least = kLeastNormalBin >> coarseness;
  const std::int32_t greatest = kGreatestBin >> coarseness;
  const Varint first = read_varint(packed.data() + 1, end);
  if (first.next == nullptr || first.next == end || first.value > kMaxZigzag) return false;
  if ((*first.next & 1) != 0) return false;  // a gap before the first bin
  const char* at = first.next;
  std::int32_t bin = unzigzag(first.value) - 1;  // so that the first one, too, has a bin before it
  while (at != end) {
    const Varint token = read_varint(at, end);
    if (token.next == nullptr || token.value < 2) return false;
    at = token.next;
    ++bin;
    if ((token.value & 1) != 0) {
      const Varint skipped = read_varint(at, end);
      if (skipped.next == nullptr || skipped.value > kMaxZigzag) return false;
      at = skipped.next;
      bin += 1 + static_cast<std::int32_t>(skipped.value);
    }
    const std::int32_t magnitude = bin < 0 ? ~bin : bin;
    if (magnitude > greatest || (magnitude < least && bin != 0)) return false;
    visit(bin, token.value >> 1);
  }
  return true;
}

bool Histogram::read_packed_total(std::string_view packed, std::uint64_t& total) {
  std::uint64_t sum = 0;
  bool overflow = false;
  const bool valid = walk(packed, [&](std::int32_t, std::uint64_t count) {
    sum += count;
    overflow |= sum > kMaxTotal;
    sum &= kMaxTotal;
  });
  total = sum;
  return valid && !overflow;
}

// Gives what turns bins of the packed histogram into ours.
unsigned Histogram::make_as_coarse_as(std::string_view packed) {
  while (coarseness_ < packed_coarseness(packed)) coarsen();
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
  // Bins come in ascending order: most of them are in the chunk of the bin before.
  const std::size_t per_chunk = bins_per_chunk();
  const unsigned chunk_bits = kMaxCoarseness - coarseness_;
  std::int32_t number = std::numeric_limits<std::int32_t>::min();
  std::size_t first = 0;
  walk(packed, [&](std::int32_t bin, std::uint64_t count) {
    bin = bin >> shift;
    if (bin >> chunk_bits != number) {
      number = bin >> chunk_bits;
      first = place_of(number << chunk_bits);
    }
    add_to(first + (static_cast<std::size_t>(bin) & (per_chunk - 1)), count);
  });
  total_ += total;
  return true;
}

bool Histogram::merge_packed_share(std::string_view packed, double share) {
  std::uint64_t total = 0;
  if (!read_packed_total(packed, total) || total > kMaxTotal - total_) return false;
  if (packed.empty()) return true;
  const unsigned shift = make_as_coarse_as(packed);
  std::uint64_t passed = 0;
  std::uint64_t taken = 0;
  walk(packed, [&](std::int32_t bin, std::uint64_t count) {
    passed += count;
    const double exact = static_cast<double>(passed) * share;
    const auto due = std::min(passed, static_cast<std::uint64_t>(std::round(exact)));
    if (due <= taken) return;
    add_to(place_of(bin >> shift), due - taken);
    taken = due;
  });
  total_ += taken;
  return true;
}

// Most bins are empty and most tokens take one byte, so the occupied ones are found without a
// branch for each, and short tokens are written without one for their gap.
void Histogram::pack(std::string& out) const {
  if (empty()) return;
  constexpr std::size_t kCountsInLine = 32;  // with many tags all of them come from afar
  for (std::size_t i = 0; i < low_.size(); i += kCountsInLine) __builtin_prefetch(&low_[i]);

  constexpr std::size_t kMaxChunkBytes = (1 << kMaxCoarseness) * 2 * kMaxVarintBytes;
  std::array<char, 4 * kMaxChunkBytes> buffer;
  char* const full = buffer.data() + 3 * kMaxChunkBytes;  // the last place for a whole chunk
  char* to = buffer.data();
  // As count_at(), but local: for all that the compiler knows, what is written changes the members.
  const std::uint64_t* const high = high_.empty() ? nullptr : high_.data();
  const auto per_chunk = static_cast<std::int32_t>(bins_per_chunk());
  const Chunk& front = chunks_.front();
  std::int32_t next = front.number * per_chunk + std::countr_zero(occupied(front));
  *to++ = static_cast<char>(coarseness_);
  to = write_varint(to, zigzag(next));
  for (const Chunk& chunk : chunks_) {
    const std::size_t first = first_place(chunk);
    const std::uint16_t* const low = &low_[first];
    const std::int32_t begin = chunk.number * per_chunk;
    std::uint32_t left = occupied(chunk);
    if (left == ~std::uint32_t{0} && next == begin && high == nullptr &&
        write_short_tokens(to, low)) {
      to += per_chunk;
      next += per_chunk;
      left = 0;
    }
    for (; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      const auto skipped = static_cast<std::uint32_t>(begin + i - next);
      const bool has_gap = skipped > 0;
      std::uint64_t count = low[i];
      if (high != nullptr) [[unlikely]]
        count |= high[first + static_cast<std::size_t>(i)] << kLowBits;
      const std::uint64_t token = count << 1 | static_cast<unsigned>(has_gap);
      if (token < 0x80 && skipped <= 0x80) [[likely]] {
        to[0] = static_cast<char>(token);
        to[1] = static_cast<char>(skipped - 1);
        to += has_gap ? 2 : 1;
      } else {
        to = write_long_token(to, token, skipped);
      }
      next = begin + i + 1;
    }
    if (to <= full) continue;
    out.append(buffer.data(), to);
    to = buffer.data();
  }
  out.append(buffer.data(), to);
}

// A bit for each bin of a chunk: set if its count is not zero.
std::uint32_t Histogram::occupied(const Chunk& chunk) const {
  const std::size_t first = first_place(chunk);
  if (coarseness_ == 0 && high_.empty()) [[likely]]
    return nonzero(&low_[first]);
  std::uint32_t bits = 0;
  for (std::size_t i = bins_per_chunk(); i-- > 0;)
    bits = bits << 1 | std::uint32_t{count_at(first + i) != 0};
  return bits;
}

void Histogram::carry(std::size_t place, std::uint64_t count) {
  if (high_.empty()) high_.resize(low_.size());
  high_[place] += count;
}

void Histogram::merge(const Histogram& other) {
  while (coarseness_ < other.coarseness_) coarsen();
  const unsigned shift = coarseness_ - other.coarseness_;
  const auto per_chunk = static_cast<std::int32_t>(bins_per_chunk());
  for (const Chunk& chunk : other.chunks_) {
    const std::size_t from = other.first_place(chunk);
    const std::size_t to = place_of(chunk.number * per_chunk);
    for (std::size_t i = 0; i < other.bins_per_chunk(); ++i)
      add_to(to + (i >> shift), other.count_at(from + i));
  }
  total_ += other.total_;
}

void Histogram::coarsen() {
  if (coarseness_ == kMaxCoarseness) return;
  // A chunk has an even number of bins and keeps its order, so this is one pass over all of them.
  const std::size_t places = low_.size() / 2;
  const auto sum_at = [this](std::size_t i) { return count_at(2 * i) + count_at(2 * i + 1); };
  for (std::size_t i = 0; i < places && high_.empty(); ++i)
    if (sum_at(i) > kMaxLow) carry(0, 0);  // may find no memory, so before anything is changed
  for (std::size_t i = 0; i < places; ++i) {
    const std::uint64_t sum = sum_at(i);
    low_[i] = static_cast<std::uint16_t>(sum);
    if (!high_.empty()) high_[i] = sum >> kLowBits;
  }
  low_.resize(places);
  low_.shrink_to_fit();
  if (!high_.empty()) high_.resize(low_.size());
  high_.shrink_to_fit();
  ++coarseness_;
}

double Histogram::quantile(double q) const {
  const double share = std::clamp(q, 0.0, 1.0) * static_cast<double>(total_);
  std::uint64_t rank = total_;
  if (share < static_cast<double>(total_)) {
    rank = static_cast<std::uint64_t>(share);
    if (static_cast<double>(rank) < share)
      ++rank;  // rounded up without libm, which a client may lack
  }
  rank = std::clamp<std::uint64_t>(rank, 1, total_);
  std::uint64_t passed = 0;
  const std::size_t per_chunk = bins_per_chunk();
  for (const Chunk& chunk : chunks_) {
    const std::size_t first = first_place(chunk);
    for (std::size_t i = 0; i < per_chunk; ++i) {
      passed += count_at(first + i);
      if (passed < rank) continue;
      return middle_of(
          chunk.number * static_cast<std::int32_t>(per_chunk) + static_cast<std::int32_t>(i),
          coarseness_);
    }
  }
  return 0;  // not reached: the bins add up to the total
}

double Histogram::middle_of(std::int32_t bin, unsigned coarseness) {
  if (bin == 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(bin < 0 ? ~bin : bin);
  const double middle = std::bit_cast<double>((2 * magnitude + 1) << (46 + coarseness));
  return bin < 0 ? -middle : middle;
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

// Gives the chunk's place.
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
  if (chunk.place < kNearPlaces)
    near_[static_cast<std::size_t>(number) % near_.size()] =
        static_cast<std::int16_t>(number << kNearPlaceBits | chunk.place);
  return chunk.place;
}

}  // namespace pcp::trace
