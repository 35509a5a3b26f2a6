// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/agent_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "harmless/diagnostics.hpp"
#include "pcp/trace.h"

namespace pcp::trace::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// After an agent has gone the first attempt comes soon, but not from all clients at once.
constexpr int kFirstReconnectMs = 500;

// Pause between looks at this host's socket while it is gone or refuses connections. A look costs
// microseconds, and most programs find a restarted agent before they end.
constexpr int kLocalPauseMs = 250;

bool is_nobody_there(int error) { return error == -ECONNREFUSED || error == -ENOENT; }

// A recording's directory goes for good, together with its socket.
bool has_directory(const std::string& socket_path) {
  const std::size_t slash = socket_path.rfind('/');
  return slash == std::string::npos || slash == 0 ||
         ::access(socket_path.substr(0, slash).c_str(), F_OK) == 0 || errno != ENOENT;
}

// Programs inherit the path from a recording. They may use it in other directories, as other users,
// and after the recording's end.
bool is_unreachable(int error) { return error == -ENOENT || error == -EACCES || error == -EPERM; }

void tell_of_unreachable(const std::string& socket_path, int error) {
  static std::atomic<bool> is_said{false};
  complain_once(is_said, [&] {
    return "no agent at PCP_TRACE_SOCKET=\"" + socket_path + "\": " + pmtraceerrstr(error) +
           "; nothing is delivered";
  });
}

std::uint64_t count_ns(nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

AgentOutput::AgentOutput(asio::io_context& loop, const ClientOptions& options, Outbox& outbox,
                         ReadClock now_ns)
    : options_(options),
      counters_(outbox.counters),
      now_ns_(std::move(now_ns)),
      connection_(loop, *this),
      session_(connection_, outbox, options),
      legacy_sender_(connection_, outbox.pending, outbox.counters),
      random_(static_cast<std::minstd_rand::result_type>(now_ns_())) {}

void AgentOutput::send_pending(std::uint64_t until) {
  if (sender_ != nullptr) sender_->send_pending(until, now_ns_());
}

bool AgentOutput::has_settled(std::uint64_t until) const {
  return session_.has_settled(until) && legacy_sender_.has_settled(until);
}

void AgentOutput::connect() {
  if (phase_ != Phase::Down) return;
  phase_ = Phase::Connecting;
  is_local_attempt_ = now_ns_() < next_full_attempt_ns_;
  connection_.open(options_, is_local_attempt_ ? Reach::Local : Reach::All);
}

bool AgentOutput::hurry() {
  if (phase_ != Phase::Pausing) return true;
  if (std::exchange(has_hurried_, true)) return false;
  phase_ = Phase::Down;
  next_full_attempt_ns_ = 0;
  return true;
}

void AgentOutput::say_goodbye() {
  if (sender_ != nullptr && sender_->say_goodbye()) connection_.expect_end();
}

void AgentOutput::recover() {
  if (phase_ == Phase::Up || phase_ == Phase::Connecting) connection_.fail(kNoMemoryToConnect);
}

std::uint64_t AgentOutput::next_call_ns() const {
  return phase_ == Phase::Pausing ? next_attempt_ns_ : kNever;
}

void AgentOutput::on_timer() {
  if (now_ns_() < next_call_ns()) return;
  phase_ = Phase::Down;
  listener_->on_change();  // connects if anything is left to deliver
}

void AgentOutput::on_greeting(std::uint32_t version) {
  diagnose(PMTRACE_STATE_COMMS,
           [&] { return "connected, protocol version " + std::to_string(version); });
  sender_ = version >= wire::kBatchVersion ? static_cast<Sender*>(&session_) : &legacy_sender_;
  phase_ = Phase::Up;
  if (ever_connected_) counters_.reconnects += 1;
  ever_connected_ = true;
  counters_.version.store(version, std::memory_order_relaxed);
  counters_.connected.store(true, std::memory_order_release);  // after the version
  has_told_attempt_ = false;
  sender_->on_connected();
  tell_change();
}

bool AgentOutput::on_pdu(const wire::Frame& pdu) {
  if (!sender_->on_pdu(pdu, now_ns_())) return false;
  tell_change();
  return true;
}

void AgentOutput::tell_change() {
  if (sender_->is_ready()) {
    connection_.establish();
    failures_ = 0;
    // Told only when ready: then a program's first call by name knows whether it is captured.
    if (!std::exchange(has_told_attempt_, true)) listener_->on_attempt_ended(0);
  }
  listener_->on_change();
}

void AgentOutput::on_failure(int error) {
  phase_ = Phase::Pausing;
  counters_.connected.store(false, std::memory_order_relaxed);
  plan_next_attempt(error);
  if (sender_ != nullptr) {
    std::exchange(sender_, nullptr)->on_disconnected();
    listener_->on_put_back();
  }
  listener_->on_change();
}

// A failed local attempt says nothing about the other endpoints.
void AgentOutput::plan_next_attempt(int error) {
  const bool may_come_back = is_nobody_there(error);
  if (options_.socket_only && !ever_connected_ && is_unreachable(error))
    tell_of_unreachable(options_.socket_path, error);
  if (!is_local_attempt_ || !may_come_back) {
    listener_->on_attempt_ended(error);
    next_full_attempt_ns_ = now_ns_() + count_ns(next_pause(error));
  }
  next_attempt_ns_ = next_full_attempt_ns_;
  if (!may_come_back || !options_.has_local_endpoint()) return;
  if (options_.socket_only && !has_directory(options_.socket_path)) return;
  const milliseconds soon(any_of(kLocalPauseMs * 4 / 5, kLocalPauseMs * 6 / 5));
  next_attempt_ns_ = std::min(next_attempt_ns_, now_ns_() + count_ns(soon));
}

nanoseconds AgentOutput::next_pause(int error) {
  const bool is_agents_fault = error != kNoMemoryToConnect;
  if (!is_agents_fault || (failures_++ == 0 && ever_connected_))
    return milliseconds(any_of(0, kFirstReconnectMs));
  const auto& delays = options_.reconnect_delays;
  const std::size_t step = std::min(failures_ - (ever_connected_ ? 2 : 1), delays.size() - 1);
  return delays[step] / 100 * any_of(80, 120);
}

// Spreads the attempts of an agent's clients over time.
int AgentOutput::any_of(int least, int most) {
  return std::uniform_int_distribution(least, most)(random_);
}

}  // namespace pcp::trace::client
