// SPDX-License-Identifier: LGPL-2.1-or-later
// A run and its totals as JSON, for `report --json` and for the page; and the words for a model's
// enumerators. Unknown values are null.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "command/run/comparison.hpp"
#include "command/run/model.hpp"
#include "command/run/span_trace.hpp"
#include "command/show/condition.hpp"
#include "command/show/json_writer.hpp"

namespace pcp::trace::command {

// One value: an object.
void write_comparison(JsonWriter& json, const Comparison& comparison);

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
      SourceWords{"histogram of nearby times"},
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
      SourceWords{"several tags",
                  "percentiles of several label sets cannot be put together, histograms can",
                  "percentiles of single label sets only, and no histogram"},
      SourceWords{
          "completed and failed",
          "percentiles of completed and failed calls cannot be put together, histograms can",
          "percentiles of completed calls only, and no histogram of failed ones"},
      SourceWords{"incomplete histogram", "the distributions lack too many of these calls",
                  "a histogram that lacks some calls"}};
  return kWords[static_cast<std::size_t>(source)];
}

void write_spans(JsonWriter& json, const RecordedSpans& spans);

void write_tag(JsonWriter& json, const Tag& tag, const Run& run);

// PCP's own metrics of hosts, as a member of the current object; no member without values.
void write_host_values(JsonWriter& json, std::span<const HostValue> values,
                       const std::function<void(const HostValue&)>& write_more);

// The run and its tags, as members of the current object.
void write_totals(JsonWriter& json, const Totals& totals);

// The whole document of `report --json`. Ends with a newline. Without a comparison it is null.
std::string report_json(const Model& model, const std::vector<Condition::Finding>& findings = {},
                        const Comparison* comparison = nullptr);

}  // namespace pcp::trace::command
