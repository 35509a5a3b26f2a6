// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/start_trace.hpp"

#include <unistd.h>

#include "base/clock.hpp"

pid_t pcp_trace_main_thread = 0;

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kStartNs = 60'000'000'000;

// Written before main().
std::uint64_t loaded_at = 0;
pid_t session_at_start = 0;

// Written in a child before fork() returns there.
constinit TraceContext around_this_child;

[[gnu::constructor]] void note_start() {
  loaded_at = now_ns();
  session_at_start = ::getsid(0);
}

}  // namespace

TraceContext start_trace(std::string_view traceparent, std::string_view tracestate) {
  TraceContext context = parse_traceparent(traceparent).value_or(TraceContext{});
  if (context.is_trace() && !tracestate.empty())
    context.set_state(tracestates.keep(tracestate, context.trace_low));
  return context;
}

void start_forked_in(const TraceContext& around) {
  around_this_child = {};
  if (!around.is_trace()) return;
  around_this_child = {around.trace_high, around.trace_low, 0, around.parent,
                       (around.flags() & kKnownFlags) | kCameInFlag};
  note_start();
}

const TraceContext& forked_in() { return around_this_child; }

bool is_at_start() { return now_ns() - loaded_at < kStartNs && ::getsid(0) == session_at_start; }

}  // namespace pcp::trace::client
