// SPDX-License-Identifier: LGPL-2.1-or-later
// What the agent remembers of a process that speaks version 2, from one connection to the next, and
// of the user whose process it is.
//
// Thread: the ingest thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "collector/engine/types.hpp"
#include "collector/ingest/session_in_flight.hpp"
#include "collector/ingest/session_spans.hpp"
#include "collector/ingest/session_tags.hpp"
#include "collector/ingest/split.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

struct SessionUser;

struct Session {
  wire::SessionId id{};
  SessionUser* user = nullptr;
  std::uint64_t connection = 0;  // 0: none, it is remembered
  std::uint64_t last_sequence = 0;
  std::uint32_t pid = 0;                 // the kernel's word, or over TCP its own; 0: unknown
  bool is_pid_certain = false;           // it is the kernel's word
  std::shared_ptr<const Origin> origin;  // null if it has no connection, and nothing in flight
  Split split;                           // of its tags
  SessionTags tags;
  SessionInFlight in_flight;
  SessionSpans spans;
  Time remembered_since{};
  std::list<Session*>::iterator in_list;  // one of the two of its user
};

// What is limited. An id of a tag with labels that has no room takes little more than itself.
struct SessionUse {
  std::size_t tags = 0;
  std::size_t ids = 0;
};

struct SessionUser {
  std::string name;
  std::map<wire::SessionId, Session> sessions;
  std::list<Session*> connected;
  std::list<Session*> remembered;  // the oldest first
  SessionUse use;
  std::size_t in_flight = 0;  // tags of which something is, of each session
};

}  // namespace pcp::trace::agent
