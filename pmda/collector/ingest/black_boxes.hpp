// SPDX-License-Identifier: LGPL-2.1-or-later
// The black boxes of processes. A process that speaks sends the descriptor of its box; the session
// keeps it while the process may come back. The box is read when the process has died. If its
// session is forgotten before that, the box is read only if nobody can know whether it lives.
//
// A process that lives on without its connection may have become another program by exec: then
// nothing was open when it died.
//
// Thread: the ingest thread; set_limit() comes before it.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "collector/ingest/limited_log.hpp"
#include "collector/ingest/peer.hpp"
#include "collector/ingest/recovery.hpp"
#include "collector/ingest/session.hpp"

namespace pcp::trace::agent {

class BlackBoxes {
 public:
  // Each box has two descriptors, the other one of its process.
  static constexpr std::size_t kDescriptors = 2;

  BlackBoxes(SpanIntake& intake, IngestCounters& counters, LimitedLog& log)
      : intake_(intake), counters_(counters), log_(log) {}

  // Limits the boxes of all users, and of each.
  void set_limit(std::size_t most, std::size_t most_of_a_user) {
    most_ = most;
    most_of_a_user_ = most_of_a_user;
  }

  // A process sends the box of its session, instead of the one before. Null: it has none yet. A box
  // that is refused is counted and logged.
  void take(Session* session, Descriptor memory, const Peer& peer);

  // A session's stages: it gets a connection again, loses its connection, is forgotten. If it still
  // has a connection then, the process has said everything.
  void attach(Session& session);
  void detach(Session& session, Instant now);
  void forget(Session& session);

  // Does a part of what is to be read. False if nothing is: no process without a connection is
  // known to have died.
  bool read_on(Instant now);

 private:
  Result<void> put(Session* session, Descriptor memory, const Peer& peer);
  bool has_room_for(const std::string& user);
  std::size_t count();
  void look_for_dead(Instant now);
  void read(Session& session);
  bool stop_waiting(Session& session);

  SpanIntake& intake_;
  IngestCounters& counters_;
  LimitedLog& log_;
  std::size_t most_ = 1000;
  std::size_t most_of_a_user_ = 1000;
  using Share = std::shared_ptr<const char>;
  std::map<std::string, Share> users_;  // each box has a copy of the pointer, which counts them
  std::list<Session*> waiting_;         // have a box, and no connection
  struct Reading {
    Recovery recovery;
    Share share;
    std::size_t before = 0;  // readings of its user
  };
  // The first one is in progress. A user's next one comes behind the first ones of all others.
  std::list<Reading> readings_;
};

}  // namespace pcp::trace::agent
