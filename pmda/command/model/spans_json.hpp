// SPDX-License-Identifier: LGPL-2.1-or-later
// Single transactions of a run as JSON, for programs and the page.
#pragma once

#include "command/json_writer.hpp"
#include "command/model/model.hpp"
#include "command/traces/trace_json.hpp"

namespace pcp::trace::command {

inline void write_spans(JsonWriter& json, const RecordedSpans& spans) {
  json.object([&] {
    json.number("traces", spans.traces);
    json.number("spans", spans.spans);
    json.number("missed", spans.missed);
    json.key("has_gap");
    json.truth(spans.has_gap);
    json.key("slowest");
    json.array([&] {
      for (const SpanTrace& trace : spans.slowest) write_trace(json, trace);
    });
  });
}

}  // namespace pcp::trace::command
