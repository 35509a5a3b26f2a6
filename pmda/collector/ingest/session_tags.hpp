// SPDX-License-Identifier: LGPL-2.1-or-later
// The tags of a session, by id. Our library counts its ids up, so an id gives the index directly;
// other ids are looked up in a table. Ids of tags with labels without room are in the table, too:
// all with the same bare name share a tag.
//
// Thread: the ingest thread.
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

#include "base/keyed_hash.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

struct SessionTag {
  static constexpr TagIndex kUnknown = ~TagIndex{0};
  using Indexes = std::array<TagIndex, kTraceTypes.size()>;
  static constexpr Indexes kAllUnknown{kUnknown, kUnknown, kUnknown, kUnknown};

  std::uint32_t id = 0;
  std::uint32_t life = 0;  // the engine's life for in_engine
  bool is_folded = false;  // stands for all label sets of its name without room
  std::string name;
  // The engine's index for each type; looked up with the type's first values.
  Indexes in_engine = kAllUnknown;
  std::shared_ptr<const LabelText> description;  // null if there is none
};

class SessionTags {
 public:
  // Finds the tag with this id, or null. Valid until a tag is added.
  SessionTag* find(std::uint32_t id) {
    const std::size_t index = index_by_counting(id);
    if (index < tags_.size() && tags_[index].id == id) [[likely]]
      return &tags_[index];
    const auto other = others_.find(id);
    return other == others_.end() ? nullptr : &tags_[other->second];
  }

  // Requires, like the functions below: the id is new.
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

  // Maps the id to the folded tag of this name. False if there is none.
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
  // Peers choose the ids: with a plain hash they could choose collisions, too.
  struct IdHash {
    KeyedHash hash;
    std::size_t operator()(std::uint32_t id) const { return hash("", id); }
  };

  std::uint32_t next_index() const { return static_cast<std::uint32_t>(tags_.size()); }
  std::size_t index_by_counting(std::uint32_t id) const { return std::uint32_t{id - first_}; }

  std::vector<SessionTag> tags_;                                     // in order of arrival
  std::uint32_t first_ = 0;                                          // id of the first tag
  std::unordered_map<std::uint32_t, std::uint32_t, IdHash> others_;  // id -> index in tags_
  std::map<std::string, std::uint32_t, std::less<>> folded_;         // name -> index in tags_
  std::size_t ids_ = 0;
};

}  // namespace pcp::trace::agent
