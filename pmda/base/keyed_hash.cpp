// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/keyed_hash.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace pcp::trace {

KeyedHash::KeyedHash() {
  if (getentropy(key_.data(), sizeof key_) == 0) return;
  // getentropy() fails in some sandboxes. The kernel gives every program 16 random bytes at its
  // start.
  static std::atomic<std::uint64_t> made{0};  // relaxed: only makes keys differ
  std::memcpy(key_.data(), reinterpret_cast<const void*>(getauxval(AT_RANDOM)), sizeof key_);
  key_[0] += made.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t KeyedHash::operator()(std::string_view text, std::uint64_t tweak) const {
  return sip_hash(key_, text, tweak);
}

}  // namespace pcp::trace
