// SPDX-License-Identifier: LGPL-2.1-or-later
#include "api/record_call.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "platform/diagnostics.hpp"

namespace pcp::trace::client {
namespace {

const char* verb_of(RecordKind kind) {
  constexpr std::array kVerbs{"",        "transaction", "point", "observation",
                              "counter", "increment",   "abort"};
  return kVerbs[static_cast<std::size_t>(kind)];
}

// Not std::to_chars: it needs libm.
std::string text_of(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", number);
  return text.data();
}

std::string describe_call(const Record& record) {
  std::string line = std::string(verb_of(record.kind())) + " \"" + record.tag()->text() + '"';
  if (record.kind() == RecordKind::Transact) line += ", seconds " + text_of(record.value);
  if (record.kind() == RecordKind::Observe || record.kind() == RecordKind::Counter ||
      record.kind() == RecordKind::Add)
    line += ", value " + text_of(record.value);
  if (has_state(PMTRACE_STATE_NOAGENT)) line += " (no agent: dropped)";
  return line;
}

// In the SYNC state: waits for the agent's acknowledgement. If no connection was ever made, gives
// the error at once; during an outage it waits.
int synchronise() {
  Client* client = Client::get_if_made();
  client->start_flusher();
  const auto deadline = steady_now() + client->options().request_timeout;
  const int outcome = client->deliveries().wait_for_first_attempt(
      std::min(client->options().connect_timeout, client->options().request_timeout));
  if (outcome < 0) return outcome;
  return client->deliver(deadline - steady_now(), Deliveries::Patience::Fixed)
             ? 0
             : PMTRACE_ERR_TIMEOUT;
}

// Not transactions: end_traced() captures them.
void capture_event(Recorder& recorder, const Tag* tag, RecordKind kind, double value) {
  using wire::SpanKind;
  switch (kind) {
    case RecordKind::Point:
      return recorder.capture_event(tag, SpanKind::Point, value);
    case RecordKind::Observe:
      return recorder.capture_event(tag, SpanKind::Observe, value);
    case RecordKind::Counter:
      return recorder.capture_event(tag, SpanKind::Counter, value);
    case RecordKind::Add:
      return recorder.capture_event(tag, SpanKind::Add, value);
    default:
      return;
  }
}

const char* call_of(RecordKind kind) {
  return kind == RecordKind::Transact ? "end" : verb_of(kind);
}

int refuse(const char* call, const char* tag, int error, const char* why) {
  Client::make_if_asked();
  diagnose(PMTRACE_STATE_API, [&] {
    const std::string name = tag != nullptr ? " \"" + std::string(tag) + '"' : "";
    return call + name + " refused: " + why;
  });
  return error;
}

}  // namespace

int refuse(const char* call, const char* tag, int error) {
  return refuse(call, tag, error, pmtraceerrstr(error));
}

int refuse(RecordKind kind, const char* tag, int error) {
  return refuse(call_of(kind), tag, error);
}

int refuse_null_handle(const char* call) {
  return refuse(call, nullptr, PMTRACE_ERR_TAGNAME,
                "The handle is NULL: it was never set, or pmtrace_tag() refused the tag");
}

int refuse_null_handle(RecordKind kind) { return refuse_null_handle(call_of(kind)); }

int refuse_increment(const char* tag, double increment) {
  static std::atomic<bool> is_said{false};
  complain_once(is_said, [&] {
    const std::string name(tag != nullptr ? tag : "", tag != nullptr ? ::strnlen(tag, 254) : 0);
    return '"' + name + "\": " + text_of(increment) +
           " was not added: an increment must be finite and not negative";
  });
  return refuse(RecordKind::Add, tag, -EINVAL);
}

// Not inlined, for the same reason as find_recorder_slowly().
[[gnu::noinline]] int record_specially(Recorder& recorder, const Tag* tag, RecordKind kind,
                                       double value) {
  diagnose(PMTRACE_STATE_API, [&] { return describe_call({tag, value, kind}); });
  if (has_state(PMTRACE_STATE_NOAGENT)) return 0;
  if (has_state(kCapturing)) capture_event(recorder, tag, kind, value);
  if (const int error = recorder.record(tag, value, kind)) return error;
  return has_state(PMTRACE_STATE_SYNC) ? synchronise() : 0;
}

}  // namespace pcp::trace::client
