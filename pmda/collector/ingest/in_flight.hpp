// SPDX-License-Identifier: LGPL-2.1-or-later
// Transactions in flight, as the sessions tell of them, and the engine shows them.
//
// What a session has said leaves the engine with its connection, since the process may be gone as
// well, and is remembered. A process that comes back says it anew; of one that does not, or that
// ends meanwhile, it has vanished. A reset makes the engine forget it all: then it enters again,
// bit by bit.
//
// Whatever takes a turn may let the main thread in between two tags.
//
// Thread: the ingest thread's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

#include "collector/ingest/options.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/tag_finder.hpp"
#include "collector/ingest/turn.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class InFlight {
 public:
  // `left_out` counts the reports of tags for which there was no room.
  InFlight(const IngestOptions& options, TagFinder& finder, IngestCounters::Counter& left_out)
      : options_(options), finder_(finder), left_out_(left_out) {}

  // What becomes of a session: it begins, gets a connection again, has lost it, and ends.
  void begin(Session& session);
  void attach(Session& session) { move(session, Known::Nothing); }
  void detach(Session& session, Turn& turn);
  void end(Session& session, Turn& turn);

  // Takes what a batch says. `disagrees` is told of the tags that TagFinder says so of.
  // Requires: the session knows the batch's tags.
  void take(Session& session, const wire::Batch& batch, Turn& turn,
            const std::function<void(const SessionTag&)>& disagrees);

  // Gives up those who will not come back: their process has ended, or they had time enough.
  void give_up_old(Time now, Turn& turn);

  // Gives up all that have not come back.
  void give_up_all(Turn& turn);

  // Has at most so many tags and sessions enter again what was reset. True if there is more to do.
  bool enter_again(Turn& turn, std::size_t most);

 private:
  using Known = SessionInFlight::Known;
  using Tags = decltype(SessionInFlight::tags);

  std::list<Session*>& list(Known known) { return lists_[static_cast<std::size_t>(known)]; }
  void move(Session& session, Known known);
  bool has_room(const Session& session) const;
  bool put(Session& session, SessionTag& tag, const wire::OpenCount& said, Turn& turn);
  void enter(const Session& session, SessionTag& tag, SessionInFlight::Tag& mine, Engine& engine,
             Time now, bool& disagrees);
  static void leave(SessionInFlight::Tag& mine, Engine& engine);
  void forget_all(Session& session, Turn& turn);
  void vanish_all(Session& session, Turn& turn);
  void give_up(Session& session, Turn& turn);
  void erase(Session& session, Tags::iterator tag);

  const IngestOptions& options_;
  TagFinder& finder_;
  IngestCounters::Counter& left_out_;
  // Of Known::Now those come last all of whose tags are in the engine's present life; of
  // Known::Before the oldest is the first.
  std::array<std::list<Session*>, 3> lists_;
  std::size_t size_ = 0;  // tags, of all sessions
  std::uint64_t last_holder_ = 0;
};

}  // namespace pcp::trace::agent
