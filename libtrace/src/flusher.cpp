#include "flusher.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>

#include <asio/post.hpp>

#include "client.hpp"
#include "clock.hpp"
#include "diagnostics.hpp"
#include "rest_at_fork.hpp"

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

}  // namespace

Flusher::Flusher(Client& client)
    : client_(client),
      loop_(1),
      bell_(loop_),
      flush_timer_(loop_),
      reconnect_timer_(loop_),
      connection_(loop_, *this),
      batch_sender_(connection_, pending_, client.delivered(), client.options(),
                    [&client] { return client.counters(); }),
      legacy_sender_(connection_, pending_, client.delivered()),
      watches_counter_(kernel_trusts_counter()),
      poll_interval_(client.options().flush_interval),
      random_(static_cast<std::minstd_rand::result_type>(now_ns())) {
  if (client_.doorbell().descriptor() >= 0) bell_.assign(client_.doorbell().descriptor());
}

Flusher::~Flusher() { bell_.release(); }  // the doorbell's

void Flusher::run() {
  {
    const Working now;
    if (watches_counter_) watch_counter(tick_rate_);
    wait_for_bell();
    asio::post(loop_, working([this] {
                 connection_.open(client_.options());
                 on_bell(true);
               }));
  }
  const auto work = asio::make_work_guard(loop_);
  for (bool must_recover = false;; must_recover = true) {
    try {
      if (must_recover) recover();
      loop_.run();
    } catch (const std::exception& problem) {
      diagnose(PMTRACE_STATE_COMMS, [&] { return problem.what(); });
    }
  }
}

// No memory, in the middle of something. What is pending and what was sent are as they ought to be;
// what was under way on the connection may not be, so begin a new one.
void Flusher::recover() {
  std::this_thread::sleep_for(100ms);
  const Working now;
  if (!flush_timer_armed_) arm_flush_timer(client_.options().flush_interval);
  if (phase_ == Phase::Up || phase_ == Phase::Connecting) connection_.fail(-ENOMEM);
}

void Flusher::wait_for_bell() {
  if (!bell_.is_open()) return;
  bell_.async_wait(asio::posix::stream_descriptor::wait_read,
                   working([this](const asio::error_code& error) {
                     if (error) return;
                     const bool is_urgent = client_.doorbell().silence();
                     wait_for_bell();
                     on_bell(is_urgent);
                   }));
}

void Flusher::on_bell(bool is_urgent) {
  client_.doorbell().cancel_sleep();
  idle_rounds_ = 0;
  if (!flush_timer_armed_) arm_flush_timer(client_.options().flush_interval);
  if (is_urgent) {
    drain();
    step();
  }
}

void Flusher::arm_flush_timer(nanoseconds delay) {
  flush_timer_armed_ = true;
  flush_timer_.expires_after(delay);
  flush_timer_.async_wait(working([this](const asio::error_code& error) {
    if (!error) on_flush_timer();
  }));
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
  std::uint64_t lost = 0;
  const auto announce = [&](const Record& record) { return pending_.announce(record); };
  const auto add = [&](const auto& recorded) { lost += pending_.add(recorded, now); };
  client_.for_each_recorder([&](Recorder& recorder) { any |= recorder.drain(announce, add, add); });
  client_.delivered().undeliverable += lost;
  return any;
}

// Does all that can be done now. Everything that happens ends here.
void Flusher::step() {
  take_flush_request();
  if (sender_ != nullptr) sender_->send_pending(flushed_until_, now_ns());
  settle_flush_request();
  connect_if_needed();
}

// Threads that wait for a flush get one that begins after their request; those that ask during a
// flush share the next one.
void Flusher::take_flush_request() {
  const std::uint64_t ticket = client_.link().requested();
  if (request_ || ticket == client_.link().settled()) return;
  drain();
  flushed_until_ = pending_.queued();
  request_ = FlushRequest{ticket, flushed_until_, doubtful_calls()};
}

void Flusher::settle_flush_request() {
  if (!request_ || pending_.popped() < request_->until) return;
  if (!batch_sender_.has_settled(request_->until) || !legacy_sender_.has_settled(request_->until))
    return;
  const bool certain = doubtful_calls() == request_->doubtful;
  if (certain && client_.is_ending() && pending_.empty() && sender_ != nullptr)
    sender_->say_goodbye();
  const std::uint64_t ticket = request_->ticket;
  request_.reset();
  client_.link().settle(ticket, certain);
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
  client_.link().set_agent(Link::Agent::Connected);
  client_.link().attempt_ended(0);
  sender_->connected();
  on_progress();
}

bool Flusher::on_pdu(const wire::Frame& pdu) {
  const std::uint64_t settled_before = client_.delivered().acknowledged + doubtful_calls();
  if (!sender_->on_pdu(pdu)) return false;
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
  client_.link().set_agent(Link::Agent::Away);
  client_.link().attempt_ended(error);
  arm_reconnect_timer();
}

void Flusher::arm_reconnect_timer() {
  nanoseconds delay;
  if (failures_ == 0 && ever_connected_) {
    delay = std::chrono::milliseconds(std::uniform_int_distribution(0, kFirstReconnectMs)(random_));
  } else {
    const auto& delays = client_.options().reconnect_delays;
    const std::size_t step = std::min(failures_ - (ever_connected_ ? 1 : 0), delays.size() - 1);
    delay = delays[step] / 100 * std::uniform_int_distribution(80, 120)(random_);
  }
  ++failures_;
  reconnect_timer_.expires_after(delay);
  reconnect_timer_.async_wait(working([this](const asio::error_code& error) {
    if (error) return;
    phase_ = Phase::Down;
    client_.link().set_agent(Link::Agent::Connecting);  // so far as anybody knows
    connect_if_needed();
  }));
}

// A program that records nothing any more leaves the network alone, too.
void Flusher::connect_if_needed() {
  const bool needed = !pending_.empty() || request_ || !batch_sender_.has_settled(UINT64_MAX);
  if (phase_ != Phase::Down || !needed) return;
  phase_ = Phase::Connecting;
  connection_.open(client_.options());
}

}  // namespace pcp::trace::client
