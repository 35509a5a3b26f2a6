// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a tag's place by its type and name. Names come from anybody, so there is a limit to them,
// and the hash is keyed: nobody can choose names that collide.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collector/engine/engine.hpp"
#include "collector/engine/keyed_hash.hpp"

namespace pcp::trace::agent {

class TagTable {
 public:
  // Takes the memory for its index at once: growing it later would take too long. A few tags touch
  // all of the index, so it is a small one.
  explicit TagTable(std::size_t max_names) : max_names_(max_names) {
    places_.max_load_factor(2);
    places_.reserve(max_names);
  }

  std::optional<TagIndex> find(TraceType type, std::string_view name) const {
    const auto found = places_.find(NameView{type, name});
    if (found == places_.end()) return std::nullopt;
    return found->second;
  }

  bool full() const { return places_.size() >= max_names_; }

  // Gives the name as it is kept here, for ever. Requires: it is new.
  std::string_view insert(TraceType type, std::string_view name, TagIndex place) {
    return places_.emplace(Name{type, std::string(name)}, place).first->first.text;
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

  std::size_t max_names_;
  std::unordered_map<Name, TagIndex, Hash, Equal> places_;
};

}  // namespace pcp::trace::agent
