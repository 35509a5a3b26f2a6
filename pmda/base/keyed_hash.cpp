// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/keyed_hash.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>

namespace pcp::trace {

namespace {

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    v0 ^= word;
  }
};

// The first byte is the lowest one of the word, also on big-endian processors.
std::uint64_t word_at(const char* bytes, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
}

}  // namespace

KeyedHash::KeyedHash() {
  if (getentropy(key_.data(), sizeof key_) == 0) return;
  // getentropy() fails in some sandboxes. The kernel gives every program 16 random bytes at its
  // start.
  static std::atomic<std::uint64_t> made{0};  // relaxed: only makes keys differ
  std::memcpy(key_.data(), reinterpret_cast<const void*>(getauxval(AT_RANDOM)), sizeof key_);
  key_[0] += made.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t KeyedHash::operator()(std::string_view text, std::uint64_t tweak) const {
  State state{key_[0] ^ 0x736f6d6570736575, key_[1] ^ 0x646f72616e646f6d,
              key_[0] ^ 0x6c7967656e657261, key_[1] ^ 0x7465646279746573};
  state.absorb(tweak);
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) state.absorb(word_at(text.data() + at, 8));
  const std::uint64_t rest = word_at(text.data() + at, text.size() - at);
  state.absorb(rest | static_cast<std::uint64_t>(text.size()) << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace pcp::trace
