// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/black_boxes.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace pcp::trace::agent {
namespace {

// A process that ends is dead some milliseconds after its connection.
constexpr Duration kDeadAfter = std::chrono::seconds(1);

enum class Life { Unknown, Alive, Dead };

// Without a pidfd, a process is dead when its parent knows.
Life life_of(const SessionBox& box) {
  if (pollfd process{box.process.get(), POLLIN, 0}; process.fd >= 0)
    return ::poll(&process, 1, 0) == 0 ? Life::Alive : Life::Dead;
  if (box.pid == 0) return Life::Unknown;
  return ::kill(static_cast<pid_t>(box.pid), 0) != 0 && errno == ESRCH ? Life::Dead : Life::Alive;
}

}  // namespace

void BlackBoxes::take(Session* session, Descriptor memory, const Peer& peer) {
  const Result<void> taken = put(session, std::move(memory), peer);
  if (taken) return;
  tally(counters_.boxes_refused);
  log_.say(peer, "its black box is refused: " + taken.error().message);
}

Result<void> BlackBoxes::put(Session* session, Descriptor memory, const Peer& peer) {
  if (session == nullptr) return Error{"it came before HELLO"};
  Result<BlackBox> box = BlackBox::take(std::move(memory));
  if (!box) return box.error();
  session->box.reset();
  const std::string& user = session->user->name;
  if (!has_room_for(user)) return Error{"there are too many"};
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  Share& share = users_[user];
  if (share == nullptr) share = std::make_shared<char>();
  session->box = std::make_unique<SessionBox>(
      SessionBox{*std::move(box), std::move(process), peer.pid, false, peer.uid,
                 session->spans.source, share, std::list<Session*>{session}});
  session->box->node = session->box->place.begin();
  for (Session* const before : waiting_)  // the process has become another program
    before->box->lives_on |= before->box->pid == peer.pid && life_of(*before->box) == Life::Alive;
  count();
  return {};
}

bool BlackBoxes::has_room_for(const std::string& user) {
  const std::size_t all = count();
  const auto its = users_.find(user);
  return all < most_ && (its == users_.end() ||
                         static_cast<std::size_t>(its->second.use_count()) <= most_of_a_user_);
}

std::size_t BlackBoxes::count() {
  std::erase_if(users_, [](const auto& each) { return each.second.use_count() <= 1; });
  std::size_t all = 0;
  for (const auto& [name, share] : users_) all += static_cast<std::size_t>(share.use_count()) - 1;
  counters_.boxes.store(all, std::memory_order_relaxed);
  return all;
}

void BlackBoxes::attach(Session& session) { stop_waiting(session); }

void BlackBoxes::detach(Session& session, Instant now) {
  if (session.box == nullptr) return;
  session.box->lost_at = now;
  session.box->lives_on = false;
  waiting_.splice(waiting_.end(), session.box->place);
}

void BlackBoxes::forget(Session& session) {
  if (!stop_waiting(session)) return;
  if (life_of(*session.box) == Life::Alive)
    session.box.reset();
  else
    read(session);
}

// False if it did not wait.
bool BlackBoxes::stop_waiting(Session& session) {
  if (session.box == nullptr || !session.box->place.empty()) return false;
  session.box->place.splice(session.box->place.end(), waiting_, session.box->node);
  return true;
}

void BlackBoxes::read(Session& session) {
  const std::unique_ptr<SessionBox> box = std::move(session.box);
  if (session.spans.told == 0) return;  // nothing was captured
  try {
    DeadProcess process{session.id, session.user->name, box->uid, session.split, session.spans, {}};
    process.spans.source = box->source;
    if (!box->lives_on) process.died_at = box->lost_at;
    const auto before = static_cast<std::size_t>(
        std::ranges::count(readings_, box->share, [](const Reading& each) { return each.share; }));
    const auto place =
        std::find_if(readings_.empty() ? readings_.end() : std::next(readings_.begin()),
                     readings_.end(), [&](const Reading& each) { return each.before > before; });
    readings_.insert(
        place, {Recovery(intake_, std::move(process), std::move(box->memory)), box->share, before});
  } catch (const std::bad_alloc&) {
    tally(counters_.boxes_refused);
  }
}

void BlackBoxes::look_for_dead(Instant now) {
  const std::vector<Session*> waiting(waiting_.begin(), waiting_.end());
  for (Session* const session : waiting) {
    SessionBox& box = *session->box;
    const Life life = life_of(box);
    if (life == Life::Dead)
      forget(*session);
    else if (life == Life::Alive && box.process && now - box.lost_at > kDeadAfter)
      box.lives_on = true;
  }
}

bool BlackBoxes::read_on(Instant now) {
  try {
    if (readings_.empty()) look_for_dead(now);
    count();
    if (readings_.empty()) return false;
    Recovery& first = readings_.front().recovery;
    if (first.go_on()) return true;
    tally(counters_.boxes_read);
    if (first.was_box_torn())
      log_.say("the black box of pid " + std::to_string(first.pid()) +
                   " has wrong numbers, and could not be read to its end",
               steady_now());
  } catch (const std::bad_alloc&) {
    if (readings_.empty()) return false;
    tally(counters_.boxes_refused);
  }
  readings_.pop_front();
  return true;
}

}  // namespace pcp::trace::agent
