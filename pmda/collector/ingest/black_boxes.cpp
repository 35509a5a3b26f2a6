// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/black_boxes.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace pcp::trace::agent {
namespace {

bool is_alive(const SessionBox& box) {
  pollfd process{box.process.get(), POLLIN, 0};
  return process.fd >= 0 && ::poll(&process, 1, 0) == 0;
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
  const bool has_died = !process && peer.pid != 0 && errno == ESRCH;
  Share& share = users_[user];
  if (share == nullptr) share = std::make_shared<char>();
  session->box = std::make_unique<SessionBox>(SessionBox{*std::move(box), std::move(process),
                                                         has_died, peer.uid, session->spans.source,
                                                         share, std::list<Session*>{session}});
  session->box->node = session->box->place.begin();
  return {};
}

bool BlackBoxes::has_room_for(const std::string& user) {
  std::erase_if(users_, [](const auto& each) { return each.second.use_count() <= 1; });
  std::size_t all = 0;
  for (const auto& [name, share] : users_) all += static_cast<std::size_t>(share.use_count()) - 1;
  const auto its = users_.find(user);
  return all < most_ && (its == users_.end() ||
                         static_cast<std::size_t>(its->second.use_count()) <= most_of_a_user_);
}

void BlackBoxes::attach(Session& session) { stop_waiting(session); }

void BlackBoxes::detach(Session& session, Instant now) {
  if (session.box == nullptr) return;
  session.box->lost_at = now;
  waiting_.splice(waiting_.end(), session.box->place);
}

void BlackBoxes::forget(Session& session) {
  if (!stop_waiting(session)) return;
  if (is_alive(*session.box))
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
    DeadProcess process{session.id,    session.user->name, box->uid,
                        session.split, session.spans,      box->lost_at};
    process.spans.source = box->source;
    readings_.push_back(
        {Recovery(intake_, std::move(process), std::move(box->memory)), box->share});
  } catch (const std::bad_alloc&) {
    tally(counters_.boxes_refused);
  }
}

void BlackBoxes::look_for_dead() {
  std::vector<Session*> waiting(waiting_.begin(), waiting_.end());
  std::vector<pollfd> processes;
  for (const Session* const session : waiting)
    processes.push_back({session->box->process.get(), POLLIN, 0});  // ignored if negative
  if (!processes.empty()) ::poll(processes.data(), processes.size(), 0);
  for (std::size_t i = 0; i < waiting.size(); ++i)
    if (processes[i].revents != 0 || waiting[i]->box->has_died) forget(*waiting[i]);
}

bool BlackBoxes::read_on() {
  try {
    if (readings_.empty()) look_for_dead();
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
