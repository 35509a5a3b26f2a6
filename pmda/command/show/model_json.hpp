// SPDX-License-Identifier: LGPL-2.1-or-later
// Words for a model's enumerators, and its single transactions as JSON, for the page and for other
// programs.
#pragma once

#include <array>

#include "command/run/model.hpp"
#include "command/show/json_writer.hpp"
#include "command/show/trace_json.hpp"

namespace pcp::trace::command {

inline const char* type_name(TraceType type) {
  constexpr std::array kNames{"transact", "point", "observe", "counter"};
  return kNames[index_of(type)];
}

struct SourceWords {
  const char* name;            // in documents
  const char* note = nullptr;  // below a table; null: none is needed
  const char* why_none = "no percentiles in this recording";
};

inline SourceWords words_for(PercentileSource source) {
  constexpr std::array kWords{
      SourceWords{"histogram"},
      SourceWords{"histogram of nearly all calls"},
      SourceWords{"histogram of whole intervals"},
      SourceWords{"one value"},
      SourceWords{"one window"},
      SourceWords{"no calls"},
      SourceWords{"no finite values", "no value is a finite number", "no finite values"},
      SourceWords{"not recorded", "the stock agent and some recordings have no percentiles"},
      SourceWords{"several windows",
                  "percentiles of many windows cannot be put together, histograms can",
                  "percentiles of single windows only, and no histogram"},
      SourceWords{"several hosts",
                  "percentiles of several hosts cannot be put together, histograms can",
                  "percentiles of single hosts only, and no histogram"},
      SourceWords{"incomplete histogram", "the histogram lacks more than one call in a hundred",
                  "a histogram that lacks some calls"}};
  return kWords[static_cast<std::size_t>(source)];
}

inline void write_spans(JsonWriter& json, const RecordedSpans& spans) {
  json.object([&] {
    json.number("traces", spans.traces);
    json.number("spans", spans.spans);
    json.number("missed", spans.missed);
    json.truth("has_gap", spans.has_gap);
    json.list("slowest", spans.slowest, [&](const SpanTrace& trace) { write_trace(json, trace); });
  });
}

}  // namespace pcp::trace::command
