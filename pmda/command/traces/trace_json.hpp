// SPDX-License-Identifier: LGPL-2.1-or-later
// A trace for programs: one line of JSON, with all that is known of it.
#pragma once

#include <string>

#include "command/traces/span_trace.hpp"

namespace pcp::trace::command {

// With the line's end. Requires: there are spans.
std::string trace_json(const SpanTrace& trace);

}  // namespace pcp::trace::command
