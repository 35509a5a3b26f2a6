// SPDX-License-Identifier: LGPL-2.1-or-later
// The trace that a process was started in. TRACEPARENT and TRACESTATE tell it, for example of a
// script whose step the program is. A forked child starts inside of its parent's open transaction.
// A server that a script starts is no step: its trace would never end. So the start trace lasts one
// minute, and ends with setsid().
#pragma once

#include <sys/types.h>

#include <string_view>

#include "spans/trace_context.hpp"

// The number of the thread that runs main; 0: the process's first thread. A binding may write it
// before the first call.
extern "C" pid_t pcp_trace_main_thread;

namespace pcp::trace::client {

// How a process's transactions get their traces.
struct TraceOptions {
  TraceContext start;       // no trace: started in none
  bool always_ids = false;  // transactions without a trace begin one
};

inline constexpr TraceOptions kNoTraces;

// Parses the two variables. No trace if the first is invalid.
TraceContext start_trace(std::string_view traceparent, std::string_view tracestate);

// Starts the child inside of this. Thread: a forked child's only one.
void start_forked_in(const TraceContext& around);

// The transaction around the fork of this child; no trace if there is none. Thread: any.
const TraceContext& forked_in();

// True while the program still works on its start trace. Thread: any.
bool is_at_start();

}  // namespace pcp::trace::client
