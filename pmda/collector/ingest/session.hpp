// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's memory of a process that speaks version 2, kept over connections, and of its user.
//
// Thread: the ingest thread.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/descriptor.hpp"
#include "base/keyed_hash.hpp"
#include "collector/engine/types.hpp"
#include "collector/ingest/split.hpp"
#include "collector/spans/black_box.hpp"
#include "collector/spans/stored_span.hpp"
#include "wire/batch.hpp"
#include "wire/events.hpp"

namespace pcp::trace::agent {

struct Session;
struct SessionUser;

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

// The tags of a session, by id. Our library counts its ids up, so an id gives the index directly;
// other ids are looked up in a table. Ids of tags with labels without room are in the table, too:
// all with the same bare name share a tag.
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

// A session's reported counts of one capture.
struct CaptureSaid {
  Instant told_at{};               // since when reports are possible
  wire::CaptureCount last{};       // the last report
  std::uint64_t taken = 0;         // sum of all reports
  Instant round = Instant::min();  // begin of SpanIntake's round that last counted it
  std::uint64_t in_round = 0;      // captured in that round
};

// The captures that a session was told, and its reports about them, kept by SpanIntake.
struct SessionSpans {
  std::uint64_t last_events = 0;    // sequence of the last EVENTS
  std::uint64_t told = 0;           // number of the last CONTROL; 0: none
  bool knows_some = false;          // that CONTROL had captures
  std::uint32_t most_a_second = 0;  // the limit in that CONTROL
  std::shared_ptr<const SpanSource> source;
  std::map<std::uint64_t, CaptureSaid> said;  // by the capture's id
  std::uint64_t wanted_told = 0;              // number of the last wanted trace that it was told
};

// A session's last report of its transactions in flight, kept by InFlight.
struct SessionInFlight {
  struct Tag {
    OpenShare share;
    TagIndex entered = 0;    // the engine's tag that shows the share
    std::uint32_t life = 0;  // engine's life of the entry; 0: not entered
  };
  std::map<std::uint32_t, Tag> tags;  // by id; only tags with open transactions

  // The session's list in InFlight. Nothing: no report on this connection yet, or none to remember.
  // Now: `tags` is current. Before: `tags` is from when the connection was lost.
  enum class Known { Nothing, Now, Before };
  Known known = Known::Nothing;
  std::list<Session*>::iterator in_list;

  // After a reset: the engine's life in which all tags are entered, and the life in which the tags
  // below next_to_enter are.
  std::uint32_t entered_in = 0;
  std::uint32_t entering_in = 0;
  std::uint32_t next_to_enter = 0;
};

// A session's black box, kept by BlackBoxes.
struct SessionBox {
  BlackBox memory;
  Descriptor process;     // a pidfd; none: unknown
  std::uint32_t pid = 0;  // 0: unknown
  bool lives_on = false;  // without its connection
  std::uint32_t uid = 0;
  std::shared_ptr<const SpanSource> source;
  std::shared_ptr<const char> share;  // of its user's boxes
  std::list<Session*> place;          // one node, which waits elsewhere without a connection
  std::list<Session*>::iterator node{};
  Instant lost_at{};  // since then
};

struct Session {
  wire::SessionId id{};
  SessionUser* user = nullptr;
  std::uint64_t connection = 0;  // 0: none, only remembered
  std::uint64_t last_sequence = 0;
  std::uint32_t pid = 0;                 // from the kernel, or over TCP its own claim; 0: unknown
  bool is_pid_certain = false;           // from the kernel
  bool may_fold = false;                 // it did not say that its bare names are only those
  std::shared_ptr<const Origin> origin;  // null without a connection and transactions in flight
  Split split;                           // labels to add to its tags
  SessionTags tags;
  SessionInFlight in_flight;
  SessionSpans spans;
  std::unique_ptr<SessionBox> box;
  Instant remembered_since{};
  std::list<Session*>::iterator in_list;  // in its user's `connected` or `remembered`
};

// Use of the limits. Ids beyond `tags` belong to folded tags, and need little memory.
struct SessionUse {
  std::size_t tags = 0;
  std::size_t ids = 0;
};

// Users by the number of sessions that are remembered for them.
using UsersByRemembered = std::multimap<std::size_t, SessionUser*>;

struct SessionUser {
  std::string name;
  UsersByRemembered::iterator in_order;
  std::map<wire::SessionId, Session> sessions;
  std::list<Session*> connected;
  std::list<Session*> remembered;  // sorted, the oldest first
  SessionUse use;
  std::size_t in_flight = 0;  // tags with transactions in flight, counted per session
};

}  // namespace pcp::trace::agent
