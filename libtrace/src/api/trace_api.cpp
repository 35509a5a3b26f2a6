// SPDX-License-Identifier: LGPL-2.1-or-later
// The C API of traces: parents, and the headers that go with requests.
#include <cerrno>
#include <cstring>
#include <string_view>

#include "api/api.hpp"
#include "api/open_tx.hpp"
#include "api/record_call.hpp"
#include "spans/span_notes.hpp"
#include "spans/trace_context.hpp"

using namespace pcp::trace;
using namespace pcp::trace::client;

namespace {

static_assert(kTraceparentBytes == PMTRACE_CONTEXT_SIZE);
static_assert(Tracestates::kMostBytes + 1 == PMTRACE_CONTEXT_STATE_SIZE);

std::string_view header_text(const char* header) {
  if (header == nullptr) return {};
  const std::size_t length = ::strnlen(header, kLongestHeader + 1);
  return length <= kLongestHeader ? std::string_view(header, length) : std::string_view();
}

// Begins a transaction inside of `parent`. `since`: 0 for now. Works while tracing is switched off,
// too: traces of other programs must pass through this one.
[[gnu::always_inline]] inline int begin_since(pmtrace_handle tag, pmtrace_tx* tx,
                                              const ThreadTrace::Parent& parent, Moment since) {
  *tx = {};
  if (tag == nullptr) return refuse_null_handle("begin");
  Recorder* const recorder = find_recorder();
  Traced traced{{since != 0 ? since : present_moment(), OpenTable::kNoRef}, parent.context};
  if (recorder != nullptr)
    traced =
        since != 0 ? recorder->begin_in_since(tag, parent, since) : recorder->begin_in(tag, parent);
  else if (parent.context.is_trace())
    traced.begun.ref = OpenTable::kHasTrace;
  write(tx, tag, traced);
  return 0;
}

int begin_in(pmtrace_handle tag, pmtrace_tx* tx, const ThreadTrace::Parent& parent) {
  return begin_since(tag, tx, parent, 0);
}

int begin_in_at(pmtrace_handle tag, std::uint64_t start_ns, pmtrace_tx* tx,
                const ThreadTrace::Parent& parent) {
  return begin_since(tag, tx, parent, Recorder::past_moment(start_ns));
}

// The parent in a request's headers.
[[gnu::always_inline]] inline ThreadTrace::Parent parent_in(const char* traceparent,
                                                            const char* tracestate) {
  TraceContext context;
  if (const auto parsed = parse_traceparent(header_text(traceparent))) {
    context = *parsed;
    context.set_state(tracestates.keep(header_text(tracestate), context.trace_low));
  }
  return {context};
}

// This transaction as a parent; null: no parent.
[[gnu::always_inline]] inline ThreadTrace::Parent parent_of(const pmtrace_tx* parent) {
  if (parent == nullptr) return {};
  return {context_of(parent).inside(), read(parent).begun};
}

// If the transaction is captured, its span gets the kind Client.
void note_request(Begun begun) {
  if ((begun.ref & OpenTable::kIsCaptured) != 0) [[unlikely]]
    note_sent(OpenTable::entry_at(begun.ref)->number, begun.moment);
}

// The context of the transaction, or else of the calling thread's innermost one.
TraceContext find_context(const pmtrace_tx* tx) {
  if (tx != nullptr) {
    const TraceContext context = context_of(tx);
    // begin() writes no context while tracing is switched off: use the thread's.
    if (context.is_trace() || is_open(tx) || !is_switched_off()) return context;
  }
  Recorder* const recorder = find_recorder();
  return recorder != nullptr ? recorder->trace().innermost().context : TraceContext{};
}

}  // namespace

extern "C" {

PMTRACE_EXPORT int pmtrace_begin_from(pmtrace_handle tag, pmtrace_tx* tx, const char* traceparent,
                                      const char* tracestate) {
  if (tx == nullptr) return -EINVAL;
  return begin_in(tag, tx, parent_in(traceparent, tracestate));
}

PMTRACE_EXPORT int pmtrace_begin_from_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx,
                                         const char* traceparent, const char* tracestate) {
  if (tx == nullptr) return -EINVAL;
  return begin_in_at(tag, start_ns, tx, parent_in(traceparent, tracestate));
}

PMTRACE_EXPORT int pmtrace_begin_under(pmtrace_handle tag, pmtrace_tx* tx,
                                       const pmtrace_tx* parent) {
  if (tx == nullptr) return -EINVAL;
  return begin_in(tag, tx, parent_of(parent));
}

PMTRACE_EXPORT int pmtrace_begin_under_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx,
                                          const pmtrace_tx* parent) {
  if (tx == nullptr) return -EINVAL;
  return begin_in_at(tag, start_ns, tx, parent_of(parent));
}

PMTRACE_EXPORT int pmtrace_attach(const pmtrace_tx* tx) {
  if (tx == nullptr) return -EINVAL;
  const OpenTransaction open = read(tx);
  if (open.tag == nullptr)
    return is_switched_off() ? 0 : client::refuse("attach", nullptr, PMTRACE_ERR_NOPROGRESS);
  Recorder* const recorder = find_recorder();
  if (recorder == nullptr) return -ENOMEM;
  return recorder->trace().attach(open, context_of(tx)) ? 0 : -ENOMEM;
}

PMTRACE_EXPORT int pmtrace_detach(const pmtrace_tx* tx) {
  if (tx == nullptr) return -EINVAL;
  Recorder* const recorder = known_recorder();
  if (recorder != nullptr) recorder->trace().detach(read(tx));
  return 0;
}

PMTRACE_EXPORT int pmtrace_context(const pmtrace_tx* tx, char* traceparent, size_t size) {
  if (traceparent == nullptr || size < kTraceparentBytes) return -EINVAL;
  *traceparent = '\0';
  const TraceContext context = find_context(tx);
  if (!context.is_trace()) return 0;
  if (tx != nullptr) {
    note_request(read(tx).begun);
  } else if (Recorder* const recorder = known_recorder()) {
    note_request(recorder->trace().innermost().around);
  }
  std::memcpy(traceparent, write_traceparent(context).data(), kTraceparentBytes);
  return kTraceparentBytes - 1;
}

PMTRACE_EXPORT int pmtrace_context_state(const pmtrace_tx* tx, char* tracestate, size_t size) {
  if (tracestate == nullptr || size <= Tracestates::kMostBytes) return -EINVAL;
  *tracestate = '\0';
  const TraceContext context = find_context(tx);
  Tracestates::Text text;
  const std::size_t length = tracestates.copy(context.state(), context.trace_low, text);
  std::memcpy(tracestate, text.data(), length + 1);
  return static_cast<int>(length);
}

}  // extern "C"
