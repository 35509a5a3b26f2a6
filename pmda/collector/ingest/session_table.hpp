// SPDX-License-Identifier: LGPL-2.1-or-later
// Sessions of version 2: the agent's memory of a process over its connections, so that nothing is
// counted twice. A session belongs to the user that opened it; its id is useless to other users. A
// session is forgotten when the process says BYE, some time after its connection is lost, or to
// make room for another session: of the same user, or of anybody if its user has most of them.
//
// Thread: the ingest thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/ingest/black_boxes.hpp"
#include "collector/ingest/in_flight.hpp"
#include "collector/ingest/ingest_options.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/tag_finder.hpp"
#include "collector/ingest/turn.hpp"
#include "collector/ingest_counters.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class SessionTable {
 public:
  SessionTable(const IngestOptions& options, TagFinder& finder, BlackBoxes& boxes,
               IngestCounters& counters)
      : options_(options),
        boxes_(boxes),
        size_(counters.sessions),
        in_flight_(options, finder, counters.in_flight_left_out) {}

  InFlight& in_flight() { return in_flight_; }

  // Finds the user's session with this id, or null.
  Session* find(const std::string& user, const wire::SessionId& id);

  // Opens a session for a connection. Null if the user has too many connected ones.
  Session* open(const std::string& user, const wire::SessionId& id, std::uint64_t connection,
                Turn& turn);

  // A connection resumes a session without one; a session has lost its connection, and perhaps is
  // forgotten.
  void attach(Session& session, std::uint64_t connection);
  void detach(Session& session, Instant now, Turn& turn);

  void forget(Session& session, Turn& turn);
  void forget_old(Instant now, Turn& turn);

  // Tags with labels that have no room share one tag per bare name.
  enum class Defined { Yes, OtherName, TooMany };
  Defined define(Session& session, std::uint32_t id, std::string_view name);

 private:
  SessionUser& user_of(const std::string& name);
  void put_in_order(SessionUser& user);
  template <typename Fits>
  bool fits_all_limits(const Session& session, Fits fits) const;
  bool has_room_for_tag(const Session& session, bool is_bare) const;
  bool has_room_for_id(const Session& session) const;
  Defined define_new(Session& session, std::uint32_t id, std::string_view name);

  const IngestOptions& options_;
  BlackBoxes& boxes_;
  std::map<std::string, SessionUser> users_;
  UsersByRemembered in_order_;
  std::size_t remembered_ = 0;        // sum of all users
  std::atomic<std::uint64_t>& size_;  // always the number of sessions
  SessionUse use_;                    // sum of all sessions
  InFlight in_flight_;
};

}  // namespace pcp::trace::agent
