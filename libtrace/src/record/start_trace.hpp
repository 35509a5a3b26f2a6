// SPDX-License-Identifier: LGPL-2.1-or-later
// The trace that a program was started in, which TRACEPARENT and TRACESTATE tell in the
// environment: a script's, say, of which the program is a step. A server that the script starts is
// none: it would be one trace without end. So this lasts for a minute, and not after setsid().
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

// Whether the trace that the program was started in is still what it does. Thread: any.
bool is_at_start();

}  // namespace pcp::trace::client
