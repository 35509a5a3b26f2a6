// SPDX-License-Identifier: LGPL-2.1-or-later
// Single traces as JSON: the lines of `spans --json`, and the slowest ones of `report --json` and
// of the page.
#pragma once

#include <string>

#include "command/run/span_trace.hpp"
#include "command/show/json_writer.hpp"

namespace pcp::trace::command {

// Requires: the trace has spans.
void write_trace(JsonWriter& json, const SpanTrace& trace);

// The same as one line with a newline.
std::string trace_json(const SpanTrace& trace);

// A span's attributes, as members of the current object.
void write_attributes(JsonWriter& json, const SpanEvent& span);

}  // namespace pcp::trace::command
