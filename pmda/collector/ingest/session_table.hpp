// SPDX-License-Identifier: LGPL-2.1-or-later
// Sessions of version 2: what the agent remembers of a process from one connection to the next, so
// that nothing is counted twice. A session belongs to the user that opened it; with another user's
// id nobody gets at it. It is forgotten when the process says that it is done, some time after its
// connection has gone, or to make room for another one of the same user.
//
// Thread: the ingest thread's.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/ingest/in_flight.hpp"
#include "collector/ingest/options.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/tag_finder.hpp"
#include "collector/ingest/turn.hpp"
#include "collector/types.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class SessionTable {
 public:
  SessionTable(const IngestOptions& options, TagFinder& finder, IngestCounters& counters)
      : options_(options),
        size_(counters.sessions),
        in_flight_(options, finder, counters.in_flight_left_out) {}

  InFlight& in_flight() { return in_flight_; }

  // Gives the user's session of this id, or null.
  Session* find(const std::string& user, const wire::SessionId& id);

  // Makes a session that belongs to a connection. Null if the user has too many connected ones.
  Session* open(const std::string& user, const wire::SessionId& id, std::uint64_t connection,
                Turn& turn);

  // A connection takes up a session that has none; its connection has gone.
  void attach(Session& session, std::uint64_t connection);
  void detach(Session& session, Time now, Turn& turn);

  void forget(Session& session, Turn& turn);
  void forget_old(Time now, Turn& turn);

  // A tag with labels for which there is no room is one with all others of its name.
  enum class Defined { Yes, OtherName, TooMany };
  Defined define(Session& session, std::uint32_t id, std::string_view name);

 private:
  template <typename Fits>
  bool fits_all_limits(const Session& session, Fits fits) const;
  bool has_room_for_tag(const Session& session, bool is_bare) const;
  bool has_room_for_id(const Session& session) const;
  Defined define_new(Session& session, std::uint32_t id, std::string_view name);

  const IngestOptions& options_;
  std::map<std::string, SessionUser> users_;
  std::atomic<std::uint64_t>& size_;  // kept at the number of sessions
  SessionUse use_;                    // of all sessions
  InFlight in_flight_;
};

}  // namespace pcp::trace::agent
