// SPDX-License-Identifier: LGPL-2.1-or-later
// Transactions in flight: takes the sessions' reports and enters them into the engine.
//
// When a connection is lost, its session's counts leave the engine, because the process may have
// ended, too; InFlight remembers them. A process that reconnects reports them again. If it does not
// reconnect in time or ends, its transactions count as vanished. A reset clears the engine: then
// the counts are entered again step by step.
//
// Functions that take a Turn may let the main thread in between two tags.
//
// Thread: the ingest thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

#include "collector/ingest/ingest_options.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/tag_finder.hpp"
#include "collector/ingest/turn.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class InFlight {
 public:
  // `left_out` counts the reports of tags without room.
  InFlight(const IngestOptions& options, TagFinder& finder, IngestCounter& left_out)
      : options_(options), finder_(finder), left_out_(left_out) {}

  // A session's stages: it begins, gets a connection again, loses its connection, ends.
  void add(Session& session);
  void attach(Session& session) { move(session, Known::Nothing); }
  void detach(Session& session, Turn& turn);
  void remove(Session& session, Turn& turn);

  // Takes a batch's counts. Calls `disagrees` for tags where TagFinder reports a disagreement.
  // Requires: the session knows the batch's tags.
  void apply(Session& session, const wire::Batch& batch, Turn& turn,
             const std::function<void(const SessionTag&)>& disagrees);

  // Gives up sessions whose process has ended, or whose time to return is over.
  void give_up_old(Instant now, Turn& turn);

  // Gives up all sessions that have not returned.
  void give_up_all(Turn& turn);

  // After a reset, enters up to `most` tags and sessions again. True if there is more to do.
  bool enter_again(Turn& turn, std::size_t most);

 private:
  using Known = SessionInFlight::Known;
  using Tags = decltype(SessionInFlight::tags);

  std::list<Session*>& list(Known known) { return lists_[static_cast<std::size_t>(known)]; }
  void move(Session& session, Known known);
  bool has_room(const Session& session) const;
  bool put(Session& session, SessionTag& tag, const wire::OpenCount& said, Turn& turn);
  void enter(const Session& session, SessionTag& tag, SessionInFlight::Tag& mine, Engine& engine,
             Instant now, bool& disagrees);
  static void leave(SessionInFlight::Tag& mine, Engine& engine);
  void forget_all(Session& session, Turn& turn);
  void vanish_all(Session& session, Turn& turn);
  void give_up(Session& session, Turn& turn);
  void erase(Session& session, Tags::iterator tag);

  const IngestOptions& options_;
  TagFinder& finder_;
  IngestCounter& left_out_;
  // Known::Now: sessions that are completely in the engine's present life are at the end.
  // Known::Before: sorted, the oldest first.
  std::array<std::list<Session*>, 3> lists_;
  std::size_t size_ = 0;  // tags of all sessions
  std::uint64_t last_holder_ = 0;
};

}  // namespace pcp::trace::agent
