// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's memory of a process that speaks version 2, kept over connections, and of its user.
//
// Thread: the ingest thread.
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
  std::uint64_t connection = 0;  // 0: none, only remembered
  std::uint64_t last_sequence = 0;
  std::uint32_t pid = 0;                 // from the kernel, or over TCP its own claim; 0: unknown
  bool is_pid_certain = false;           // from the kernel
  std::shared_ptr<const Origin> origin;  // null without a connection and transactions in flight
  Split split;                           // labels to add to its tags
  SessionTags tags;
  SessionInFlight in_flight;
  SessionSpans spans;
  Instant remembered_since{};
  std::list<Session*>::iterator in_list;  // in its user's `connected` or `remembered`
};

// Use of the limits. Ids beyond `tags` belong to folded tags, and need little memory.
struct SessionUse {
  std::size_t tags = 0;
  std::size_t ids = 0;
};

struct SessionUser {
  std::string name;
  std::map<wire::SessionId, Session> sessions;
  std::list<Session*> connected;
  std::list<Session*> remembered;  // sorted, the oldest first
  SessionUse use;
  std::size_t in_flight = 0;  // tags with transactions in flight, counted per session
};

}  // namespace pcp::trace::agent
