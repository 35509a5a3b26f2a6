// SPDX-License-Identifier: LGPL-2.1-or-later
// The trace that a process was started in. TRACEPARENT and TRACESTATE tell it in the environment: a
// script's, say, of which the program is a step. A forked child was started in what its parent had
// open. A server that the script starts is no step: it would be one trace without end. So this
// lasts for a minute, and not after setsid().
#pragma once

#include <sys/types.h>

#include <string_view>

#include "record/trace_context.hpp"

// The thread that runs the program's main, by its number; 0: the process's first one. Written
// before the first call, by a binding whose runtime does it otherwise.
extern "C" pid_t pcp_trace_main_thread;

namespace pcp::trace::client {

// How the transactions of a process come to their traces. Read once from the environment.
struct TraceOptions {
  TraceContext start;       // no trace: it was started in none
  bool always_ids = false;  // what is in no trace begins one
};

inline constexpr TraceOptions kNoTraces;

// What two such variables say; no trace if the first one is not valid. The second may be null.
TraceContext start_trace(std::string_view traceparent, const char* tracestate);

// As of another process that has passed this on. Thread: a forked child's only one.
void start_forked_in(const TraceContext& around);

// In what this child was forked; no trace if it is none. Thread: any.
const TraceContext& forked_in();

// Whether the trace that the program was started in is still what it does. Thread: any.
bool is_at_start();

}  // namespace pcp::trace::client
