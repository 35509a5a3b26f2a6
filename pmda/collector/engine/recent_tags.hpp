// SPDX-License-Identifier: LGPL-2.1-or-later
// A cache of tags that were looked up lately: a hit costs a comparison and a cheap hash. The hash
// is not keyed. An attacker who chooses colliding names only causes misses, which cost a look-up in
// the table, as without the cache.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class RecentTags {
 public:
  struct Entry {
    std::string_view name;  // empty: no tag yet
    TraceType type{};
    TagIndex tag = 0;

    bool is(TraceType wanted_type, std::string_view wanted_name) const {
      return type == wanted_type && name == wanted_name;
    }
  };

  // The only entry that may hold this tag. A name stored in it must keep its address.
  Entry& entry_of(TraceType type, std::string_view name) {
    const std::uint64_t mixed =
        (ends_of(name) ^ static_cast<std::uint64_t>(type) << 56) * kMultiplier;
    return entries_[mixed >> (64 - kIndexBits)];
  }

  void clear() { entries_.fill({}); }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  static constexpr unsigned kIndexBits = 9;

  // Hashes the first and last eight bytes: few names differ only between them.
  static std::uint64_t ends_of(std::string_view name) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (name.size() >= sizeof first) {
      std::memcpy(&first, name.data(), sizeof first);
      std::memcpy(&last, name.data() + name.size() - sizeof last, sizeof last);
    } else {
      for (const char byte : name) first = first << 8 | static_cast<unsigned char>(byte);
    }
    return first ^ std::rotl(last * kMultiplier, 32);
  }

  std::array<Entry, std::size_t{1} << kIndexBits> entries_;
};

}  // namespace pcp::trace::agent
