// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/in_flight.hpp"

#include <vector>

#include "collector/ingest/process_state.hpp"

namespace pcp::trace::agent {

namespace {

// An ending process closes its connection shortly before its end is visible, so the process is
// checked for this long. kLooks limits the checks per call; each takes some microseconds.
constexpr Duration kLookedFor = std::chrono::seconds(5);
constexpr std::size_t kLooks = 100;

}  // namespace

void InFlight::add(Session& session) {
  SessionInFlight& its = session.in_flight;
  auto& silent = list(its.known);
  its.in_list = silent.insert(silent.end(), &session);
}

void InFlight::move(Session& session, Known known) {
  SessionInFlight& its = session.in_flight;
  auto& to = list(known);
  to.splice(to.end(), list(its.known), its.in_list);
  its.known = known;
}

void InFlight::detach(Session& session, Turn& turn) {
  SessionInFlight& its = session.in_flight;
  for (auto& [id, tag] : its.tags) leave(tag, turn.engine());
  move(session, its.tags.empty() ? Known::Nothing : Known::Before);
}

void InFlight::remove(Session& session, Turn& turn) {
  vanish_all(session, turn);
  list(session.in_flight.known).erase(session.in_flight.in_list);
}

void InFlight::apply(Session& session, const wire::Batch& batch, Turn& turn,
                     const std::function<void(const SessionTag&)>& disagrees) {
  if (batch.in_flight.empty() && !batch.in_flight_anew) return;
  SessionInFlight& its = session.in_flight;
  // Counts from an earlier connection are void.
  if (batch.in_flight_anew || its.known != Known::Now) {
    forget_all(session, turn);
    its.entered_in = turn.engine().life();
    move(session, Known::Now);
  }
  for (const wire::OpenCount& said : batch.in_flight) {
    SessionTag& tag = *session.tags.find(said.tag_id);
    if (put(session, tag, said, turn)) disagrees(tag);
  }
}

// True if the session is the first with another description of the tag.
bool InFlight::put(Session& session, SessionTag& tag, const wire::OpenCount& said, Turn& turn) {
  Tags& tags = session.in_flight.tags;
  auto found = tags.find(said.tag_id);
  Engine& engine = turn.engine();
  if (found != tags.end()) leave(found->second, engine);
  if (said.open == 0) {
    if (found != tags.end()) erase(session, found);
    return false;
  }
  if (found == tags.end()) {
    if (!has_room(session)) {
      tally(left_out_);
      return false;
    }
    found = tags.try_emplace(said.tag_id).first;
    found->second.share.holder = ++last_holder_;
    found->second.share.pid = session.pid;
    ++session.user->in_flight;
    ++size_;
  }
  OpenShare& share = found->second.share;
  share.open = said.open;
  share.began = turn.now() - Duration{static_cast<std::int64_t>(said.oldest_ns)};
  share.tid = said.tid;
  bool disagrees = false;
  enter(session, tag, found->second, engine, turn.now(), disagrees);
  return disagrees;
}

// One user gets at most half of the room.
bool InFlight::has_room(const Session& session) const {
  return size_ < options_.max_in_flight && session.user->in_flight < options_.max_in_flight / 2 &&
         session.in_flight.tags.size() < options_.max_tags_per_session;
}

void InFlight::enter(const Session& session, SessionTag& tag, SessionInFlight::Tag& mine,
                     Engine& engine, Instant now, bool& disagrees) {
  const TagIndex index = finder_.find(engine, session, tag, TraceType::Transact, disagrees);
  mine.entered = engine.enter(index, mine.share, now);
  mine.life = engine.life();
}

void InFlight::leave(SessionInFlight::Tag& mine, Engine& engine) {
  if (mine.life == engine.life()) engine.leave(mine.entered, mine.share);
  mine.life = 0;
}

void InFlight::erase(Session& session, Tags::iterator tag) {
  session.in_flight.tags.erase(tag);
  --session.user->in_flight;
  --size_;
}

void InFlight::forget_all(Session& session, Turn& turn) {
  Tags& tags = session.in_flight.tags;
  while (!tags.empty()) {
    leave(tags.begin()->second, turn.engine());
    erase(session, tags.begin());
  }
}

void InFlight::vanish_all(Session& session, Turn& turn) {
  Tags& tags = session.in_flight.tags;
  while (!tags.empty()) {
    auto& [id, mine] = *tags.begin();
    Engine& engine = turn.engine();
    bool disagrees = false;
    const TagIndex index =
        finder_.find(engine, session, *session.tags.find(id), TraceType::Transact, disagrees);
    engine.vanish(index, mine.share.open, turn.now());
    leave(mine, engine);
    erase(session, tags.begin());
  }
}

void InFlight::give_up(Session& session, Turn& turn) {
  vanish_all(session, turn);
  session.origin.reset();
  move(session, Known::Nothing);
}

void InFlight::give_up_old(Instant now, Turn& turn) {
  auto& before = list(Known::Before);
  while (!before.empty() && now - before.front()->remembered_since >= options_.vanish_after)
    give_up(*before.front(), turn);
  std::vector<Session*> gone;
  for (auto each = before.rbegin(); each != before.rend() && gone.size() < kLooks; ++each) {
    if (now - (*each)->remembered_since > kLookedFor) break;
    if ((*each)->is_pid_certain) gone.push_back(*each);
  }
  for (Session* const session : gone) {
    turn.end();  // has_ended() reads a file
    if (has_ended(session->pid)) give_up(*session, turn);
  }
}

void InFlight::give_up_all(Turn& turn) {
  auto& before = list(Known::Before);
  while (!before.empty()) give_up(*before.front(), turn);
}

bool InFlight::enter_again(Turn& turn, std::size_t most) {
  auto& sessions = list(Known::Now);
  while (!sessions.empty()) {
    Session& session = *sessions.front();
    SessionInFlight& its = session.in_flight;
    const std::uint32_t life = turn.engine().life();
    if (its.entered_in == life) return false;
    if (its.entering_in != life) its.next_to_enter = 0;
    its.entering_in = life;
    for (auto next = its.tags.lower_bound(its.next_to_enter); next != its.tags.end(); ++next) {
      if (most-- == 0) {
        its.next_to_enter = next->first;
        return true;
      }
      Engine& engine = turn.engine();
      if (next->second.life == engine.life()) continue;
      bool said_before = false;
      enter(session, *session.tags.find(next->first), next->second, engine, turn.now(),
            said_before);
    }
    its.entered_in = life;  // after another reset meanwhile, the loop repeats
    move(session, Known::Now);
    if (most == 0) return true;
    --most;
  }
  return false;
}

}  // namespace pcp::trace::agent
