// SPDX-License-Identifier: LGPL-2.1-or-later
// SipHash-1-3 (Aumasson, Bernstein).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

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

}  // namespace pcp::trace
