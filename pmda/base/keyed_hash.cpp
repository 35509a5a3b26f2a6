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
  SipHash hash(key_);
  hash.absorb(tweak);
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) hash.absorb(word_at(text.data() + at, 8));
  const std::uint64_t rest = word_at(text.data() + at, text.size() - at);
  hash.absorb(rest | static_cast<std::uint64_t>(text.size()) << 56);
  return hash.finish();
}

}  // namespace pcp::trace
