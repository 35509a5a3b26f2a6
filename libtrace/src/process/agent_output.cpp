// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/agent_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "pcp/trace.h"
#include "platform/diagnostics.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::client {
namespace {

// Most of an attempt's messages are repeated; the number of distinct ones is small.
constexpr std::size_t kMostTold = 16;

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

}  // namespace

AgentOutput::AgentOutput(OwnDescriptor& socket, const ClientOptions& options, Outbox& outbox,
                         ReadClock now_ns)
    : options_(options),
      counters_(outbox.counters),
      now_ns_(std::move(now_ns)),
      connection_(socket),
      attempt_(options, now_ns_()),
      session_(outbox, options),
      legacy_session_(outbox.pending, outbox.counters) {}

template <typename Use>
auto AgentOutput::with_session(Use use) {
  return is_legacy_ ? use(legacy_session_) : use(session_);
}

void AgentOutput::send_pending(std::uint64_t until) {
  if (phase_ != Phase::Greeted) return;
  std::string out;
  with_session([&](auto& session) { session.send_pending(until, now_ns_(), out); });
  send(out);
}

void AgentOutput::send(const std::string& out) {
  if (out.empty()) return;
  diagnose_pdus("sent", out);
  connection_.send(out);
}

bool AgentOutput::has_settled(std::uint64_t until) const {
  return session_.has_settled(until) && legacy_session_.has_settled(until);
}

bool AgentOutput::has_told_open() const {
  return phase_ == Phase::Greeted && (is_legacy_ || session_.has_told_open());
}

void AgentOutput::connect() {
  if (phase_ != Phase::Down) return;
  phase_ = Phase::Connecting;
  const Reach reach = attempt_.begin(now_ns_());
  attempt_.use(find_endpoints(options_, reach));
  const auto& endpoints = attempt_.endpoints();
  if (options_.has_local_endpoint() && (endpoints.empty() || endpoints.front().family() != AF_UNIX))
    tell([&] { return "no agent socket at " + options_.socket_path; });
  try_next_endpoint(0);
}

// After an error at the one before; 0: there was none before.
void AgentOutput::try_next_endpoint(int error) {
  for (;;) {
    if (error != 0) tell_failure(pmtraceerrstr(error));
    const Endpoint* const endpoint = attempt_.next(error, now_ns_());
    if (endpoint == nullptr) return end_attempt(attempt_.error());
    tell([&] { return "connecting to " + endpoint->name(); });
    if (connection_.open(*endpoint)) return;
    error = -errno;
  }
}

bool AgentOutput::hurry(std::uint64_t flush) {
  if (phase_ != Phase::Pausing) return true;
  if (std::exchange(hurried_for_, flush) == flush) return false;
  phase_ = Phase::Down;
  attempt_.hurry();
  return true;
}

void AgentOutput::say_goodbye() {
  if (phase_ != Phase::Greeted) return;
  std::string out;
  is_end_expected_ |= with_session([&](auto& session) { return session.say_goodbye(out); });
  send(out);
}

void AgentOutput::recover() {
  if (phase_ == Phase::Greeted || phase_ == Phase::Connecting) fail(kNoMemoryToConnect);
}

pollfd AgentOutput::awaited() const { return {connection_.descriptor(), connection_.events(), 0}; }

std::uint64_t AgentOutput::next_call_ns() const {
  return phase_ == Phase::Pausing ? attempt_.next_ns() : attempt_.deadline_ns();
}

void AgentOutput::on_timer() {
  if (now_ns_() < next_call_ns()) return;
  if (phase_ == Phase::Connecting) return try_next_endpoint(PMTRACE_ERR_TIMEOUT);
  if (phase_ == Phase::Greeted) return fail(PMTRACE_ERR_TIMEOUT);
  phase_ = Phase::Down;
  news_.has_changed = true;  // connects if anything is left to deliver
}

void AgentOutput::on_ready() {
  if (connection_.descriptor() < 0) return;
  if (connection_.is_connecting()) {
    if (const int error = connection_.finish_connecting(); error != 0) try_next_endpoint(error);
    return;
  }
  int error = connection_.read();
  handle_pdus();
  if (connection_.descriptor() < 0) return;
  if (error == PMTRACE_ERR_IPC) return fail(error, "the agent hung up");
  if (error == 0) error = connection_.write();
  if (error != 0) fail(error);
}

void AgentOutput::handle_pdus() {
  wire::Frame pdu;
  for (;;) {
    const wire::FrameReader::Status status = connection_.next(pdu);
    if (status == wire::FrameReader::Status::NeedMore) return;
    if (status == wire::FrameReader::Status::Malformed || !handle(pdu))
      return fail(PMTRACE_ERR_IPC);
    if (phase_ == Phase::Pausing) return;  // refused
  }
}

// False if malformed.
bool AgentOutput::handle(const wire::Frame& pdu) {
  diagnose_pdu("received", pdu);
  if (phase_ == Phase::Connecting) return on_greeting(pdu);
  std::string out;
  if (!with_session([&](auto& session) { return session.on_pdu(pdu, now_ns_(), out); }))
    return false;
  if (const OwnDescriptor* const box = is_legacy_ ? nullptr : session_.box_to_pass()) {
    wire::append_tags(out, own_pid(), {});  // some bytes to go with it
    connection_.pass(*box);
  }
  send(out);
  note_change();
  return true;
}

// The first PDU tells the agent's version, or why it refuses us.
bool AgentOutput::on_greeting(const wire::Frame& pdu) {
  const auto code = wire::decode_ack(pdu.payload);
  if (pdu.type != wire::PduType::Ack || !code) return false;
  if (*code < 0) {
    fail(*code);
    return true;
  }
  const auto version = static_cast<std::uint32_t>(*code);
  told_.clear();
  diagnose(PMTRACE_STATE_COMMS,
           [&] { return "connected, protocol version " + std::to_string(version); });
  is_legacy_ = version < wire::kBatchVersion;
  phase_ = Phase::Greeted;
  if (attempt_.was_greeted()) counters_.reconnects += 1;
  attempt_.on_greeting();
  counters_.version.store(version, std::memory_order_relaxed);
  counters_.connected.store(true, std::memory_order_release);  // after the version
  has_told_attempt_ = false;
  std::string out;
  with_session([&](auto& session) { session.on_connected(out); });
  send(out);
  note_change();
  return true;
}

void AgentOutput::note_change() {
  if (with_session([](auto& session) { return session.is_ready(); })) {
    attempt_.on_ready();
    // Told only when ready: then a program's first call by name knows whether it is captured.
    news_.has_connected |= !std::exchange(has_told_attempt_, true);
  }
  news_.has_changed = true;
}

// Ends the connection. Null: the error's own text says the reason.
void AgentOutput::fail(int error, const char* reason) {
  if (reason == nullptr) reason = pmtraceerrstr(error);
  if (phase_ == Phase::Connecting)
    tell_failure(reason);
  else if (phase_ == Phase::Greeted && !is_end_expected_)
    diagnose(PMTRACE_STATE_COMMS, [&] { return std::string("connection lost: ") + reason; });
  end_attempt(error);
}

void AgentOutput::end_attempt(int error) {
  connection_.close();
  is_end_expected_ = false;
  counters_.connected.store(false, std::memory_order_relaxed);
  if (options_.socket_only && !attempt_.was_greeted() && is_unreachable(error))
    tell_of_unreachable(options_.socket_path, error);
  const bool is_gone = options_.socket_only && !has_directory(options_.socket_path);
  if (attempt_.end(error, is_gone, now_ns_())) news_.failure = error;
  if (std::exchange(phase_, Phase::Pausing) == Phase::Greeted) {
    with_session([&](auto& session) { session.on_disconnected(now_ns_()); });
    news_.has_put_back = true;
  }
  news_.has_changed = true;
}

// Prints a message about an attempt, once until there is a connection.
template <typename MakeText>
void AgentOutput::tell(MakeText make_text) {
  if (!has_state(PMTRACE_STATE_COMMS) || told_.size() == kMostTold) return;
  std::string text = make_text();
  if (std::find(told_.begin(), told_.end(), text) != told_.end()) return;
  diagnose(PMTRACE_STATE_COMMS, [&] { return text; });
  told_.push_back(std::move(text));
}

void AgentOutput::tell_failure(const char* reason) {
  const Endpoint* const endpoint = attempt_.current();
  if (endpoint == nullptr) return;
  tell([&] { return "no connection to " + endpoint->name() + ": " + reason; });
}

}  // namespace pcp::trace::client
