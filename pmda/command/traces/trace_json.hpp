// SPDX-License-Identifier: LGPL-2.1-or-later
// A trace for programs, as JSON, with all that is known of it.
#pragma once

#include <string>

#include "command/json_writer.hpp"
#include "command/traces/span_trace.hpp"

namespace pcp::trace::command {

// Requires: there are spans.
void write_trace(JsonWriter& json, const SpanTrace& trace);

// The same as one line, with its end.
std::string trace_json(const SpanTrace& trace);

// What a program has noted of a span: members of the object that is being written.
void write_attributes(JsonWriter& json, const SpanEvent& span);

}  // namespace pcp::trace::command
