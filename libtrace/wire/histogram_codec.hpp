// SPDX-License-Identifier: LGPL-2.1-or-later
// The packed form of a histogram:
//
//   | coarseness | first | bin | bin | ...       every part but the first byte is a varint
//                          |
//                          +-- count * 2, follows directly on the bin before it, or
//                              count * 2 + 1 | empty bins in between, less one
//
// Bins are numbered in the order of their values: bin_of() >> coarseness, see histogram_bins.hpp.
// `first` is the first occupied bin's number as a zigzag varint. Only occupied bins are stored, in
// ascending order: typically one or two bytes each. An empty histogram has no bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/histogram_bins.hpp"

namespace pcp::trace {

struct Varint {
  const char* next;  // null if there was none
  std::uint64_t value;
};

// Accepts only the shortest encoding, of at most 64 bits.
Varint read_long_varint(const char* at, const char* end);

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

// Requires: the histogram is not empty.
inline unsigned packed_coarseness(std::string_view packed) {
  return static_cast<unsigned char>(packed.front());
}

// The greatest zigzag value of a bin's number.
inline constexpr std::uint64_t kMaxZigzag = 2 * bins::kGreatest + 1;

inline std::uint64_t zigzag(std::int32_t value) {
  return static_cast<std::uint32_t>(value) << 1 ^ static_cast<std::uint32_t>(value >> 31);
}

inline std::int32_t unzigzag(std::uint64_t value) {
  return static_cast<std::int32_t>(value >> 1) ^ -static_cast<std::int32_t>(value & 1);
}

// Calls visit(bin, count) for each bin of a packed histogram. False at the first error. All state
// is local and stays in registers: the agent reads millions of bins per second.
template <typename Visit>
bool for_each_packed_bin(std::string_view packed, Visit visit) {
  if (packed.empty()) return true;
  const char* const end = packed.data() + packed.size();
  const unsigned coarseness = packed_coarseness(packed);
  if (coarseness > bins::kMaxCoarseness) return false;
  const std::int32_t least = bins::kLeastNormal >> coarseness;
  const std::int32_t greatest = bins::kGreatest >> coarseness;
  const Varint first = read_varint(packed.data() + 1, end);
  if (first.next == nullptr || first.next == end || first.value > kMaxZigzag) return false;
  if ((*first.next & 1) != 0) return false;  // a gap before the first bin
  const char* at = first.next;
  std::int32_t bin = unzigzag(first.value) - 1;  // the first bin then needs no special case
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

// Most bytes of a bin: two varints.
inline constexpr std::size_t kMaxPackedBinBytes = 20;

// Position of the next byte, and the bin that would follow without a gap.
struct PackedEnd {
  char* to;
  std::int32_t next;
};

// Begins a packed histogram with this first occupied bin. Writes at most kMaxPackedBinBytes.
PackedEnd begin_packed(char* to, unsigned coarseness, std::int32_t first);

// Writes a token of more than two bytes. `skipped` is the number of empty bins before it.
char* write_long_token(char* to, std::uint64_t token, std::uint32_t skipped);

// Adds an occupied bin. Most tokens take one byte, written without a branch for the gap.
inline PackedEnd write_bin(PackedEnd end, std::int32_t bin, std::uint64_t count) {
  const auto skipped = static_cast<std::uint32_t>(bin - end.next);
  const bool has_gap = skipped > 0;
  const std::uint64_t token = count << 1 | static_cast<unsigned>(has_gap);
  if (token < 0x80 && skipped <= 0x80) [[likely]] {
    end.to[0] = static_cast<char>(token);
    end.to[1] = static_cast<char>(skipped - 1);
    end.to += has_gap ? 2 : 1;
  } else {
    end.to = write_long_token(end.to, token, skipped);
  }
  end.next = bin + 1;
  return end;
}

// Writes the tokens of 32 adjacent bins if each fits in one byte. The compiler vectorises this.
inline bool write_short_tokens(char* to, const std::uint16_t* counts) {
  unsigned any = 0;
  for (int i = 0; i < 32; ++i) any |= counts[i];
  if (any >= 0x40) return false;
  for (int i = 0; i < 32; ++i) to[i] = static_cast<char>(counts[i] << 1);
  return true;
}

}  // namespace pcp::trace
