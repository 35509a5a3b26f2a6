// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/flusher.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>
#include <utility>

#include <asio/post.hpp>

#include "delivery/diagnostics.hpp"
#include "fork/rest_at_fork.hpp"
#include "process/client.hpp"
#include "process/main_thread.hpp"
#include "record/clock.hpp"

namespace pcp::trace::client {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// A program that pauses for less than this many flush intervals need not wake us, which costs its
// thread a system call.
constexpr int kRoundsBeforeSleep = 10;

// Without a bell to wake us there is no way but to look, more and more rarely.
constexpr nanoseconds kSlowestPoll = 500ms;

// After an agent that was there has gone, the first attempt comes soon, but not all clients' at
// once.
constexpr int kFirstReconnectMs = 500;

// What comes after a pause leaves so soon, together with what follows it at once. So the last words
// of a process that is killed or that we cannot see end are rarely lost.
constexpr nanoseconds kLeadingEdge = 1ms;

// While the agent's socket of this host is gone or nobody listens on it, it is looked at so often:
// that costs microseconds, and an agent that was restarted is found before most programs end.
constexpr int kLocalPauseMs = 250;

// How often the last thread looks whether it is the last one, once main has left.
constexpr nanoseconds kEndWatch = 100ms;

// How long to wait for threads that were interrupted while they added a record up.
constexpr nanoseconds kBusyPause = 100us;
constexpr int kBusyTries = 1000;

bool is_nobody_there(int error) { return error == -ECONNREFUSED || error == -ENOENT; }

}  // namespace

Flusher::Flusher(Client& client)
    : client_(client),
      loop_(1),
      work_(asio::make_work_guard(loop_)),
      bell_(loop_),
      flush_timer_(loop_),
      reconnect_timer_(loop_),
      end_timer_(loop_),
      connection_(loop_, *this),
      batch_sender_(connection_, pending_, client.delivered(), client.options(),
                    [&client] { return client.counters(); }),
      legacy_sender_(connection_, pending_, client.delivered()),
      watches_counter_(kernel_trusts_counter()),
      poll_interval_(client.options().flush_interval),
      random_(static_cast<std::minstd_rand::result_type>(now_ns())) {
  if (client_.doorbell().descriptor() >= 0) bell_.assign(client_.doorbell().descriptor());
  if (watches_counter_) watch_counter(tick_rate_);
  wait_for_bell();
  asio::post(loop_, working([this] { connection_.open(client_.options(), Reach::All); }));
}

Flusher::~Flusher() { bell_.release(); }  // the doorbell's

void Flusher::resume() {
  const Working now;
  loop_.restart();
  asio::post(loop_, working([this] { on_bell(true); }));
}

void Flusher::run() {
  while (guarded([this] {
    loop_.run();
    return false;  // it was stopped
  })) {
  }
}

bool Flusher::run_once(std::chrono::steady_clock::time_point until) {
  return guarded([&] { return loop_.run_one_until(until) > 0; });
}

// Gives what the work gives; true if there was no memory for it.
template <typename Work>
bool Flusher::guarded(Work work) {
  try {
    if (std::exchange(must_recover_, false)) recover();
    return work();
  } catch (const std::exception& problem) {
    must_recover_ = true;
    // There will be no attempt to connect until there is memory again.
    if (phase_ != Phase::Up) client_.link().attempt_ended(kNoMemoryToConnect);
    diagnose(PMTRACE_STATE_COMMS, [&] { return problem.what(); });
    return true;
  }
}

// No memory, in the middle of something. What is pending and what was sent are as they ought to be;
// what was under way on the connection may not be, so begin a new one. And any of our waits may be
// the one that could not begin, so begin them all anew.
void Flusher::recover() {
  std::this_thread::sleep_for(100ms);
  const Working now;
  if (!bell_awaited_) wait_for_bell();
  arm_flush_timer(client_.options().flush_interval);
  if (main_has_left()) leave_if_last();
  if (phase_ == Phase::Up || phase_ == Phase::Connecting) connection_.fail(kNoMemoryToConnect);
  if (phase_ == Phase::Waiting) arm_reconnect_timer();
}

void Flusher::wait_for_bell() {
  if (!bell_.is_open()) return;
  bell_.async_wait(asio::posix::stream_descriptor::wait_read,
                   working([this](const asio::error_code& error) {
                     if (error) return;
                     bell_awaited_ = false;
                     const bool is_urgent = client_.doorbell().silence();
                     wait_for_bell();
                     on_bell(is_urgent);
                   }));
  bell_awaited_ = true;
}

void Flusher::on_bell(bool is_urgent) {
  client_.doorbell().cancel_sleep();
  idle_rounds_ = 0;
  if (!flush_timer_armed_) arm_flush_timer(std::min(kLeadingEdge, poll_interval_));
  if (is_urgent) {
    drain();
    step();
  }
  if (main_has_left() && !end_timer_armed_) leave_if_last();
}

// What is pending stays so: exit(), which the last thread's end calls, delivers it. Whoever waits
// for that may be a main that was not quite gone when we left.
void Flusher::leave_if_last() {
  end_timer_armed_ = false;
  if (!client_.link().has_waiters() && is_last_thread()) {
    client_.doorbell().announce_leave();
    if (!drain()) return loop_.stop();
    client_.doorbell().cancel_sleep();
    if (!flush_timer_armed_) arm_flush_timer(kLeadingEdge);
  }
  end_timer_.expires_after(kEndWatch);
  end_timer_.async_wait(working([this](const asio::error_code& error) {
    if (!error) leave_if_last();
  }));
  end_timer_armed_ = true;
}

void Flusher::arm_flush_timer(nanoseconds delay) {
  flush_timer_.expires_after(delay);
  flush_timer_.async_wait(working([this](const asio::error_code& error) {
    if (!error) on_flush_timer();
  }));
  flush_timer_armed_ = true;
}

void Flusher::on_flush_timer() {
  flush_timer_armed_ = false;
  if (watches_counter_) watch_counter(tick_rate_);
  const bool had_work = drain();
  idle_rounds_ = had_work ? 0 : idle_rounds_ + 1;
  if (idle_rounds_ < kRoundsBeforeSleep) {
    poll_interval_ = client_.options().flush_interval;
    arm_flush_timer(client_.options().flush_interval);
  } else {
    fall_asleep();
  }
  flushed_until_ = pending_.queued();
  step();
}

void Flusher::fall_asleep() {
  if (client_.doorbell().announce_sleep()) {
    if (!drain()) return;
    client_.doorbell().cancel_sleep();
    arm_flush_timer(client_.options().flush_interval);
    return;
  }
  arm_flush_timer(poll_interval_);
  poll_interval_ = std::min(poll_interval_ * 2, kSlowestPoll);
}

bool Flusher::drain() {
  const std::uint64_t now = now_ns();
  bool any = false;
  const auto make_room = [&](std::size_t records) { pending_.make_room(records); };
  const auto announce = [&](const Record& record) { return pending_.announce(record); };
  const auto add = [&](const auto& recorded) { pending_.add(recorded, now); };
  const auto drain_one = [&](Recorder& recorder) {
    any |= recorder.drain(make_room, announce, add, add);
    return !recorder.was_busy();
  };
  has_drained_all_ = true;
  client_.recorders().for_each([&](Recorder& each) { has_drained_all_ &= drain_one(each); });
  // Many threads may have lost their processors in the middle of a cell: wait for all at once. On a
  // busy machine that takes seconds, through which whoever asks for a flush has to be patient, too.
  for (int tries = 0; !has_drained_all_ && tries < kBusyTries; ++tries) {
    {
      const Away meanwhile;  // a fork need not wait for that
      std::this_thread::sleep_for(kBusyPause);
    }
    if (!request_) client_.link().made_progress();
    has_drained_all_ = true;
    client_.recorders().for_each([&](Recorder& each) {
      if (each.was_busy()) has_drained_all_ &= drain_one(each);
    });
  }
  return any;
}

// Does all that can be done now. Everything that happens ends here.
void Flusher::step() {
  take_flush_request();
  if (sender_ != nullptr) sender_->send_pending(flushed_until_, now_ns());
  settle_flush_request();
  if (phase_ == Phase::Waiting && client_.link().is_ending()) hasten_last_attempt();
  connect_if_needed();
}

// Threads that wait for a flush get one that begins after their request; those that ask during a
// flush share the next one.
void Flusher::take_flush_request() {
  const std::uint64_t ticket = client_.link().requested();
  if (request_ || ticket == client_.link().settled()) return;
  drain();
  if (!has_drained_all_ && !client_.link().is_ending()) return;  // a flush timer comes
  client_.link().made_progress();                                // it may have been much
  flushed_until_ = pending_.queued();
  request_ = FlushRequest{ticket, flushed_until_, doubtful_calls()};
}

void Flusher::settle_flush_request() {
  if (!request_ || pending_.popped() < request_->until) return;
  if (!batch_sender_.has_settled(request_->until) || !legacy_sender_.has_settled(request_->until))
    return;
  const bool certain = doubtful_calls() == request_->doubtful;
  // Not for a flush before the last one, after which there may be more to say.
  const bool is_last = request_->ticket == client_.link().requested();
  if (certain && is_last && client_.link().is_ending() && pending_.empty() && sender_ != nullptr)
    sender_->say_goodbye();
  close_flush_request(certain);
}

// Requires: there is one.
void Flusher::close_flush_request(bool delivered) {
  const std::uint64_t ticket = request_->ticket;
  request_.reset();
  client_.link().settle(ticket, delivered);
  if (client_.link().requested() != ticket) client_.doorbell().ring();  // the next one's turn
}

std::uint64_t Flusher::doubtful_calls() const {
  return client_.delivered().uncertain + client_.delivered().undeliverable;
}

void Flusher::on_greeting(std::uint32_t version) {
  diagnose(PMTRACE_STATE_COMMS,
           [&] { return "connected, protocol version " + std::to_string(version); });
  sender_ = version >= wire::kBatchVersion ? static_cast<Sender*>(&batch_sender_) : &legacy_sender_;
  phase_ = Phase::Up;
  DeliveryCounters& counters = client_.delivered();
  if (ever_connected_) counters.reconnects += 1;
  ever_connected_ = true;
  counters.version.store(version, std::memory_order_relaxed);
  counters.connected.store(true, std::memory_order_relaxed);
  client_.link().attempt_ended(0);
  sender_->connected();
  on_progress();
}

bool Flusher::on_pdu(const wire::Frame& pdu) {
  const std::uint64_t settled_before = client_.delivered().acknowledged + doubtful_calls();
  if (!sender_->on_pdu(pdu, now_ns())) return false;
  // Only what settles calls is progress: an agent that just talks must not hold up the process's
  // end.
  if (client_.delivered().acknowledged + doubtful_calls() != settled_before)
    client_.link().made_progress();
  on_progress();
  return true;
}

void Flusher::on_progress() {
  if (sender_->is_ready()) {
    connection_.establish();
    failures_ = 0;
  }
  step();
}

void Flusher::on_failure(int error) {
  diagnose(PMTRACE_STATE_COMMS,
           [&] { return "no connection: " + std::string(pmtraceerrstr(error)); });
  if (sender_ != nullptr) {
    sender_->disconnected();
    sender_ = nullptr;
    // What a sender put back is pending once more, and still covered by whoever waits.
    flushed_until_ = pending_.queued();
    if (request_) request_->until = flushed_until_;
  }
  phase_ = Phase::Waiting;
  client_.delivered().connected.store(false, std::memory_order_relaxed);
  may_come_back_ = is_nobody_there(error);
  if (!is_local_attempt_ || !may_come_back_) {
    client_.link().attempt_ended(error);
    next_full_attempt_ = std::chrono::steady_clock::now() + next_pause(error);
  }
  arm_reconnect_timer();
  if (client_.link().is_ending()) step();
}

// Not all clients of an agent at the same time.
int Flusher::any_of(int least, int most) {
  return std::uniform_int_distribution(least, most)(random_);
}

nanoseconds Flusher::next_pause(int error) {
  const bool is_agents_fault = error != kNoMemoryToConnect;
  if (!is_agents_fault || (failures_++ == 0 && ever_connected_))
    return std::chrono::milliseconds(any_of(0, kFirstReconnectMs));
  const auto& delays = client_.options().reconnect_delays;
  const std::size_t step = std::min(failures_ - (ever_connected_ ? 2 : 1), delays.size() - 1);
  return delays[step] / 100 * any_of(80, 120);
}

void Flusher::arm_reconnect_timer() {
  auto next = next_full_attempt_;
  if (may_come_back_ && client_.options().has_local_endpoint()) {
    const auto soon =
        std::chrono::milliseconds(any_of(kLocalPauseMs * 4 / 5, kLocalPauseMs * 6 / 5));
    next = std::min(next, std::chrono::steady_clock::now() + soon);
  }
  reconnect_timer_.expires_at(next);
  reconnect_timer_.async_wait(working([this](const asio::error_code& error) {
    if (error || phase_ != Phase::Waiting) return;
    phase_ = Phase::Down;
    connect_if_needed();
  }));
}

// The process ends: one more attempt, without a pause. After that nobody need wait any longer.
void Flusher::hasten_last_attempt() {
  if (std::exchange(hastened_, true)) {
    if (request_) close_flush_request(false);
    return;
  }
  phase_ = Phase::Down;
  next_full_attempt_ = {};
}

// A program that records nothing any more leaves the network alone, too.
void Flusher::connect_if_needed() {
  const bool needed = !pending_.empty() || request_ || !batch_sender_.has_settled(UINT64_MAX);
  if (phase_ != Phase::Down || !needed) return;
  phase_ = Phase::Connecting;
  is_local_attempt_ = std::chrono::steady_clock::now() < next_full_attempt_;
  connection_.open(client_.options(), is_local_attempt_ ? Reach::Local : Reach::All);
}

}  // namespace pcp::trace::client
