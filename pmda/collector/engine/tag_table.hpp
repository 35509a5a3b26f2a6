// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a tag by type and name: in a table and, before that, among those that were found lately.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/keyed_hash.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

// Any program can choose names, so their number is limited, and the hash is keyed: nobody can
// choose names that collide.
class TagTable {
 public:
  // Takes the index's memory at once, because growing it later would take too long. The index is
  // small, because even a few tags touch all of it.
  explicit TagTable(std::size_t max_names) {
    tags_.max_load_factor(2);
    tags_.reserve(max_names);
  }

  std::optional<TagIndex> find(TraceType type, std::string_view name) const {
    const auto found = tags_.find(NameView{type, name});
    if (found == tags_.end()) return std::nullopt;
    return found->second;
  }

  std::size_t size() const { return tags_.size(); }

  // Gives the stored name, which is valid until erase(). Requires: the name is new.
  std::string_view insert(TraceType type, std::string_view name, TagIndex tag) {
    return tags_.emplace(Name{type, std::string(name)}, tag).first->first.text;
  }

  // Requires: the name is present.
  void erase(TraceType type, std::string_view name) {
    tags_.erase(tags_.find(NameView{type, name}));
  }

 private:
  struct NameView {
    TraceType type;
    std::string_view text;
  };
  struct Name {
    TraceType type;
    std::string text;
    operator NameView() const { return {type, text}; }
  };
  struct Hash {
    using is_transparent = void;
    KeyedHash hash;
    std::size_t operator()(NameView name) const {
      return static_cast<std::size_t>(hash(name.text, static_cast<std::uint64_t>(name.type)));
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(NameView a, NameView b) const { return a.type == b.type && a.text == b.text; }
  };

  std::unordered_map<Name, TagIndex, Hash, Equal> tags_;
};

// A cache of tags that were looked up lately: a hit costs a comparison and a cheap hash. The hash
// is not keyed. An attacker who chooses colliding names only causes misses, which cost a look-up in
// the table, as without the cache.
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
