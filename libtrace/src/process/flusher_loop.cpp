// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/flusher_loop.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include <asio/post.hpp>

#include "base/clock.hpp"
#include "harmless/descriptors.hpp"
#include "harmless/diagnostics.hpp"
#include "harmless/rest_at_fork.hpp"
#include "process/agent_output.hpp"
#include "process/main_thread.hpp"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

constexpr auto kPauseAfterException = 100ms;

// For programs without an agent, whose totals only an MMV file shows: pending calls count as
// delivered.
class NoOutput final : public Output {
 public:
  NoOutput(Pending& pending, DeliveryCounters& delivered)
      : pending_(pending), delivered_(delivered) {}

  void report_to(Listener& listener) override { listener_ = &listener; }
  void send_pending(std::uint64_t until) override {
    for (; pending_.popped() < until; pending_.pop()) {
      delivered_.sent += pending_.front().records();
      delivered_.acknowledged += pending_.front().records();
    }
  }
  bool has_settled(std::uint64_t) const override { return true; }
  bool has_told_open() const override { return true; }
  void connect() override { listener_->on_attempt_ended(0); }
  bool hurry() override { return false; }
  void say_goodbye() override {}
  void recover() override {}
  std::uint64_t next_call_ns() const override { return kNever; }
  void on_timer() override {}

 private:
  Pending& pending_;
  DeliveryCounters& delivered_;
  Listener* listener_ = nullptr;
};

std::unique_ptr<Output> make_output(asio::io_context& loop, const ClientOptions& options,
                                    Outbox& outbox) {
  if (options.mmv_only) return std::make_unique<NoOutput>(outbox.pending, outbox.counters);
  return std::make_unique<AgentOutput>(loop, options, outbox, now_ns);
}

}  // namespace

FlusherLoop::FlusherLoop(const ClientOptions& options, Recorders& recorders, Doorbell& doorbell,
                         Deliveries& deliveries, DeliveryCounters& delivered,
                         Outbox::ReadCounters counters)
    : doorbell_(doorbell),
      deliveries_(deliveries),
      loop_(1),
      work_(asio::make_work_guard(loop_)),
      bell_(loop_),
      timer_(loop_),
      outbox_(recorders, options, delivered, std::move(counters)),
      mmv_(Mmv::make(options)),
      output_(make_output(loop_, options, outbox_)),
      flusher_({recorders, doorbell, deliveries}, outbox_, *output_, options.flush_interval,
               surroundings(), mmv_.get()),
      watches_counter_(is_counter_trusted()) {
  if (watches_counter_) watch_counter(tick_rate_);
  asio::post(loop_, while_forks_wait([this] { output_->connect(); }));
  // Last: if an earlier step throws, the descriptor would be closed.
  listen_to_new_bell();
}

FlusherLoop::~FlusherLoop() { bell_.release(); }  // the doorbell's

Flusher::Surroundings FlusherLoop::surroundings() {
  const auto pause = [](std::chrono::nanoseconds time) {
    const ForksGoOn meanwhile;
    std::this_thread::sleep_for(time);
  };
  return {now_ns, [this](std::uint64_t ns) { set_timer(ns); }, pause, has_main_left,
          is_last_thread};
}

void FlusherLoop::resume() {
  const ForksWait meanwhile;
  loop_.restart();
  if (!bell_awaited_) wait_for_bell();
  asio::post(loop_, while_forks_wait([this] { on_bell(true); }));
}

void FlusherLoop::run() {
  while (guarded([this] {
    loop_.run();
    return false;  // stopped
  })) {
  }
}

bool FlusherLoop::run_once(Instant until) {
  return guarded([&] { return loop_.run_one_until(until) > 0; });
}

// Gives the work's result; true if it threw for lack of memory or descriptors.
template <typename Work>
bool FlusherLoop::guarded(Work work) {
  try {
    if (std::exchange(must_recover_, false)) recover();
    return work();
  } catch (const std::exception& problem) {
    must_recover_ = true;
    // No connection attempt will follow before there is memory again.
    deliveries_.attempt_ended(kNoMemoryToConnect);
    diagnose(PMTRACE_STATE_COMMS, [&] { return problem.what(); });
    return true;
  }
}

// After a lack of memory or descriptors at any point. Pending and sent data are intact, but the
// connection may not be: begin a new one. Any wait may be missing: begin all of them again.
void FlusherLoop::recover() {
  std::this_thread::sleep_for(kPauseAfterException);
  const ForksWait meanwhile;
  if (!has_all_descriptors()) has_lost_descriptors_ = true;
  if (has_lost_descriptors_) renew_descriptors();
  if (!bell_awaited_) wait_for_bell();
  timer_set_to_ns_ = kNever;
  flusher_.recover();
  if (flusher_.has_left()) loop_.stop();
}

// The program has closed our descriptors. Asio recreates its own as in a forked child, without any
// registered ones.
void FlusherLoop::renew_descriptors() {
  diagnose(PMTRACE_STATE_COMMS, [] { return "the program has closed our descriptors"; });
  output_->hang_up();
  bell_.release();
  bell_awaited_ = false;
  forget_lost_descriptors();
  loop_.notify_fork(asio::execution_context::fork_child);
  listen_to_new_bell();
  has_lost_descriptors_ = false;
}

void FlusherLoop::listen_to_new_bell() {
  doorbell_.renew();
  watch_descriptor(doorbell_.descriptor());
  if (doorbell_.descriptor() >= 0) bell_.assign(doorbell_.descriptor());
}

void FlusherLoop::wait_for_bell() {
  if (!bell_.is_open()) return;
  bell_.async_wait(asio::posix::stream_descriptor::wait_read,
                   while_forks_wait([this](const asio::error_code& error) {
                     if (error) return;
                     bell_awaited_ = false;
                     const bool is_urgent = doorbell_.silence();
                     if (doorbell_.is_stuck()) remove_bell();
                     wait_for_bell();
                     on_bell(is_urgent);
                   }));
  bell_awaited_ = true;
}

// An unreadable bell would ring for ever. The flusher polls instead.
void FlusherLoop::remove_bell() {
  diagnose(PMTRACE_STATE_COMMS, [] { return "the doorbell cannot be read: polling"; });
  bell_.release();
  watch_descriptor(-1);
  doorbell_.remove();
}

void FlusherLoop::on_bell(bool is_urgent) {
  flusher_.on_bell(is_urgent);
  if (flusher_.has_left()) loop_.stop();
}

void FlusherLoop::set_timer(std::uint64_t ns) {
  if (ns == timer_set_to_ns_) return;
  timer_set_to_ns_ = kNever;
  timer_.cancel();
  if (ns == kNever) return;
  timer_.expires_at(instant_at(ns));
  timer_.async_wait(while_forks_wait([this](const asio::error_code& error) {
    if (!error) on_timer();
  }));
  timer_set_to_ns_ = ns;
}

void FlusherLoop::on_timer() {
  timer_set_to_ns_ = kNever;
  if (watches_counter_) watch_counter(tick_rate_);
  flusher_.on_timer();
  if (flusher_.has_left()) loop_.stop();
}

}  // namespace pcp::trace::client
