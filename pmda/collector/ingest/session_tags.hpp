// SPDX-License-Identifier: LGPL-2.1-or-later
// What the ids of a session stand for. Our library counts its ids up, so that an id tells which
// element its tag is; ids in any other order are looked up in a table. So are the ids of tags with
// labels for which there was no room: all of one name share a tag.
//
// Thread: the ingest thread's.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/engine/keyed_hash.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

struct SessionTag {
  static constexpr TagIndex kUnknown = ~TagIndex{0};
  using Indexes = std::array<TagIndex, kTraceTypes.size()>;
  static constexpr Indexes kAllUnknown{kUnknown, kUnknown, kUnknown, kUnknown};

  std::uint32_t id = 0;
  std::uint32_t life = 0;  // of the engine, that in_engine is from
  bool is_folded = false;  // stands for all sets of labels of its name that have no room
  std::string name;
  // What the engine calls it, for each type; asked for when the first values come.
  Indexes in_engine = kAllUnknown;
  std::shared_ptr<const LabelText> description;  // null if there is none
};

class SessionTags {
 public:
  // Gives the tag of this id until another one is added, or null.
  SessionTag* find(std::uint32_t id) {
    const std::size_t index = index_by_counting(id);
    if (index < tags_.size() && tags_[index].id == id) [[likely]]
      return &tags_[index];
    const auto other = others_.find(id);
    return other == others_.end() ? nullptr : &tags_[other->second];
  }

  // Requires, as all below: the id is new.
  SessionTag& add(std::uint32_t id, std::string_view name) {
    assert(find(id) == nullptr);
    if (tags_.empty()) first_ = id;
    if (index_by_counting(id) != tags_.size()) others_.emplace(id, next_index());
    ++ids_;
    SessionTag& tag = tags_.emplace_back();
    tag.id = id;
    tag.name = name;
    return tag;
  }

  // Gives the id to the tag that stands for the sets of labels of this name. False if there is
  // none.
  bool share_folded(std::uint32_t id, std::string_view bare_name) {
    const auto shared = folded_.find(bare_name);
    if (shared == folded_.end()) return false;
    others_.emplace(id, shared->second);
    ++ids_;
    return true;
  }

  void add_folded(std::uint32_t id, std::string_view bare_name) {
    folded_.emplace(bare_name, next_index());
    add(id, bare_name).is_folded = true;
  }

  std::size_t size() const { return tags_.size(); }
  std::size_t ids() const { return ids_; }

 private:
  // Peers choose the ids: a plain hash would let them choose the collisions, too.
  struct IdHash {
    KeyedHash hash;
    std::size_t operator()(std::uint32_t id) const { return hash("", id); }
  };

  std::uint32_t next_index() const { return static_cast<std::uint32_t>(tags_.size()); }
  std::size_t index_by_counting(std::uint32_t id) const { return std::uint32_t{id - first_}; }

  std::vector<SessionTag> tags_;  // in the order in which they were added
  std::uint32_t first_ = 0;       // id of the first one
  std::unordered_map<std::uint32_t, std::uint32_t, IdHash> others_;  // id -> index in tags_
  std::map<std::string, std::uint32_t, std::less<>> folded_;         // name -> index in tags_
  std::size_t ids_ = 0;
};

}  // namespace pcp::trace::agent
