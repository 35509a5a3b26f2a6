// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/flusher_thread.hpp"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "platform/diagnostics.hpp"
#include "platform/forks.hpp"
#include "process/agent_output.hpp"
#include "process/main_thread.hpp"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

// Written before main, or while the library is loaded; then only read.
cpu_set_t processors_at_load;
bool are_processors_known = false;

[[gnu::constructor(101)]] void note_processors() {
  are_processors_known =
      ::sched_getaffinity(0, sizeof processors_at_load, &processors_at_load) == 0;
}

constexpr auto kPauseAfterLoss = 100ms;  // of memory or descriptors

// Between looks at the agent's socket where poll() is forbidden. The longest is the flusher's
// without a bell.
constexpr std::uint64_t kShortestLookNs = 10'000'000;
constexpr std::uint64_t kLongestLookNs = 500'000'000;

// For programs without an agent, whose totals only an MMV file shows: pending calls count as
// delivered.
class NoOutput final : public Output {
 public:
  NoOutput(Pending& pending, DeliveryCounters& delivered)
      : pending_(pending), delivered_(delivered) {}

  void send_pending(std::uint64_t until) override {
    for (; pending_.popped() < until; pending_.pop()) {
      delivered_.sent += pending_.front().records();
      delivered_.acknowledged += pending_.front().records();
    }
  }
  bool has_settled(std::uint64_t) const override { return true; }
  bool has_told_open() const override { return true; }
  void connect() override { news_.has_connected = true; }
  bool hurry(std::uint64_t) override { return false; }
  void say_goodbye() override {}
  void recover() override {}
  std::uint64_t next_call_ns() const override { return kNever; }
  void on_timer() override {}

 private:
  Pending& pending_;
  DeliveryCounters& delivered_;
};

std::unique_ptr<Output> make_output(OwnDescriptor& socket, const ClientOptions& options,
                                    Outbox& outbox) {
  if (options.mmv_only) return std::make_unique<NoOutput>(outbox.pending, outbox.counters);
  return std::make_unique<AgentOutput>(socket, options, outbox, now_ns);
}

Flusher::Platform platform() {
  const auto pause = [](std::chrono::nanoseconds time) {
    const UnblockForks meanwhile;
    std::this_thread::sleep_for(time);
  };
  return {now_ns, pause, has_main_left, is_last_thread};
}

// Rounded up: after the wait it is not too early.
int milliseconds_between(std::uint64_t now_ns, std::uint64_t until_ns) {
  constexpr std::uint64_t kMs = 1'000'000;
  constexpr std::uint64_t kLongest = 3'600'000;
  if (until_ns <= now_ns) return 0;
  return static_cast<int>(std::min((until_ns - now_ns - 1) / kMs + 1, kLongest));
}

}  // namespace

void run_like_any_thread() {
  const sched_param no_priority{};
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy == SCHED_FIFO || policy == SCHED_RR)
    ::sched_setscheduler(0, SCHED_OTHER, &no_priority);
  if (are_processors_known) ::sched_setaffinity(0, sizeof processors_at_load, &processors_at_load);
}

FlusherThread::FlusherThread(const ClientOptions& options, const Flusher::Shared& shared,
                             FlushersDescriptors& descriptors, DeliveryCounters& delivered,
                             Outbox::ReadCounters counters)
    : doorbell_(shared.doorbell),
      deliveries_(shared.deliveries),
      outbox_(shared.recorders, options, delivered, std::move(counters)),
      mmv_(Mmv::make(options, descriptors.mmv_files)),
      output_(make_output(descriptors.socket, options, outbox_)),
      flusher_(shared, outbox_, *output_, options.flush_interval, platform(), mmv_.get()),
      watches_counter_(is_counter_trusted()) {
  if (watches_counter_) watch_counter(tick_rate_);
  doorbell_.renew();
}

void FlusherThread::run() {
  while (must_look_ || !flusher_.has_left()) work_or_recover(kNever);
}

bool FlusherThread::run_once(Instant until) {
  const auto until_ns = std::max<Duration::rep>(until.time_since_epoch().count(), 0);
  work_or_recover(static_cast<std::uint64_t>(until_ns));
  return steady_now() < until;
}

void FlusherThread::work_or_recover(std::uint64_t until_ns) {
  try {
    if (std::exchange(must_recover_, false)) recover();
    work(until_ns);
  } catch (const std::exception& problem) {  // a lack of memory
    must_recover_ = true;
    // No connection attempt will follow before there is memory again.
    deliveries_.attempt_ended(kNoMemoryToConnect);
    diagnose(PMTRACE_STATE_COMMS, [&] { return problem.what(); });
  }
}

void FlusherThread::work(std::uint64_t until_ns) {
  if (doorbell_.is_lost() || output_->is_lost()) renew_descriptors();
  const bool must_look = std::exchange(must_look_, false);
  const Ready ready =
      must_look ? Ready{true, false} : wait(std::min(until_ns, flusher_.next_call_ns()));
  const BlockForks meanwhile;
  const bool is_time = flusher_.next_call_ns() <= now_ns();
  if (ready.bell || is_time) next_check_ns_ = kShortestLookNs;
  if (must_look) output_->connect();
  // The output first: nothing is sent to an agent that has gone.
  if (ready.output) flusher_.on_output_ready();
  if (ready.bell) on_bell(must_look);
  if (is_time && !flusher_.has_left()) {
    if (watches_counter_) watch_counter(tick_rate_);
    flusher_.on_timer();
  }
}

FlusherThread::Ready FlusherThread::wait(std::uint64_t until_ns) {
  std::array<pollfd, 2> awaited{{{doorbell_.descriptor(), POLLIN, 0}, output_->awaited()}};
  const std::uint64_t now = now_ns();
  if (::poll(awaited.data(), awaited.size(), milliseconds_between(now, until_ns)) >= 0)
    return {awaited[0].revents != 0, awaited[1].revents != 0};
  if (errno == EINTR) return {false, false};
  // A sandbox forbids it, or RLIMIT_NOFILE is smaller than the number of entries.
  const std::uint64_t look_ns = std::min(std::max(until_ns, now) - now, next_check_ns_);
  next_check_ns_ = std::min(2 * next_check_ns_, kLongestLookNs);
  return {doorbell_.await_ring(std::chrono::nanoseconds(look_ns)), true};
}

void FlusherThread::on_bell(bool must_look) {
  const bool is_urgent = doorbell_.silence() || must_look;
  if (doorbell_.is_stuck()) {
    // It would ring for ever. The flusher polls instead.
    diagnose(PMTRACE_STATE_COMMS, [] { return "the doorbell cannot be read: polling"; });
    doorbell_.remove();
  }
  flusher_.on_bell(is_urgent);
}

// After the program has closed some. Rings of an old bell are lost.
void FlusherThread::renew_descriptors() {
  std::this_thread::sleep_for(kPauseAfterLoss);
  const BlockForks meanwhile;
  diagnose(PMTRACE_STATE_COMMS, [] { return "the program has closed our descriptors"; });
  if (doorbell_.is_lost()) doorbell_.renew();
  if (output_->is_lost()) output_->recover();
  must_look_ = true;
}

// After a lack of memory at any point. Pending and sent data are intact, but the connection may not
// be: begin a new one.
void FlusherThread::recover() {
  std::this_thread::sleep_for(kPauseAfterLoss);
  const BlockForks meanwhile;
  flusher_.recover();
}

}  // namespace pcp::trace::client
