// SPDX-License-Identifier: LGPL-2.1-or-later
// SipHash-1-3 (Aumasson, Bernstein).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pcp::trace {

class SipHash {
 public:
  using Key = std::array<std::uint64_t, 2>;

  explicit SipHash(const Key& key)
      : v0_(key[0] ^ 0x736f6d6570736575),
        v1_(key[1] ^ 0x646f72616e646f6d),
        v2_(key[0] ^ 0x6c7967656e657261),
        v3_(key[1] ^ 0x7465646279746573) {}

  void absorb(std::uint64_t word) {
    v3_ ^= word;
    round();
    v0_ ^= word;
  }

  std::uint64_t finish() {
    v2_ ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void round() {
    v0_ += v1_, v1_ = std::rotl(v1_, 13) ^ v0_, v0_ = std::rotl(v0_, 32);
    v2_ += v3_, v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_, v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_, v1_ = std::rotl(v1_, 17) ^ v2_, v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

// `tweak` gives equal texts different hashes for different purposes.
inline std::uint64_t sip_hash(const SipHash::Key& key, std::string_view text, std::uint64_t tweak) {
  // The first byte is the lowest one of the word, also on big-endian processors.
  const auto word_at = [](const char* bytes, std::size_t size) {
    std::uint64_t word = 0;
    if (size > 0) std::memcpy(&word, bytes, size);
    return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
  };
  SipHash hash(key);
  hash.absorb(tweak);
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) hash.absorb(word_at(text.data() + at, 8));
  const std::uint64_t rest = word_at(text.data() + at, text.size() - at);
  hash.absorb(rest | static_cast<std::uint64_t>(text.size()) << 56);
  return hash.finish();
}

}  // namespace pcp::trace
