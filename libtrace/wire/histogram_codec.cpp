// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/histogram_codec.hpp"

namespace pcp::trace {

namespace {

char* write_varint(char* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

}  // namespace

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

PackedEnd begin_packed(char* to, unsigned coarseness, std::int32_t first) {
  *to++ = static_cast<char>(coarseness);
  return {write_varint(to, zigzag(first)), first};
}

// Kept out of Histogram::pack's loop, which has no free register.
[[gnu::noinline]] char* write_long_token(char* to, std::uint64_t token, std::uint32_t skipped) {
  to = write_varint(to, token);
  return skipped > 0 ? write_varint(to, skipped - 1) : to;
}

}  // namespace pcp::trace
