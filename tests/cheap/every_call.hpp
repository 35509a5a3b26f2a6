// SPDX-License-Identifier: LGPL-2.1-or-later
// Every kind of frequent call, for the tests of their cost.
#pragma once

#include "pcp/trace.h"

namespace pcp::trace {

// One round of each kind, by handle and by name. Requires: the handle is not null.
inline constexpr int kCallsInRound = 11;
inline void call_everything(pmtrace_handle tag, const char* name, double value) {
  pmtrace_point(tag);
  pmtrace_observe(tag, value);
  pmtrace_count(tag, value);
  pmtrace_add(tag, value);
  pmtrace_tx transaction;
  pmtrace_begin(tag, &transaction);
  pmtrace_end(&transaction);
  pmtracepoint(name);
  pmtraceobs(name, value);
  pmtracecounter(name, value);
  pmtracebegin(name);
  pmtraceend(name);
}

}  // namespace pcp::trace
