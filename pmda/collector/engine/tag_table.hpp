// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a tag by type and name. Any program can choose names, so their number is limited, and the
// hash is keyed: nobody can choose names that collide.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/keyed_hash.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

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

}  // namespace pcp::trace::agent
