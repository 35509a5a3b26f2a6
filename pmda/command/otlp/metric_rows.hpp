// SPDX-License-Identifier: LGPL-2.1-or-later
// OTLP's metrics, a row for each quantity that they have. Rows of one name have attributes that
// tell them apart.
#pragma once

#include "command/pcp/recorded_metrics.hpp"

namespace pcp::trace::command::otlp {

enum class Shape {
  Total,         // a sum that only grows
  SignedTotal,   // a sum of values of any sign
  Level,         // a gauge
  Distribution,  // an exponential histogram
};

struct MetricRow {
  TraceType type;
  Quantity quantity;
  Ending ending;
  const char* name;
  const char* unit;     // in UCUM's words; null: of the tag's values
  const char* outcome;  // null: the point has no such attribute
  Shape shape;
  const char* description;
};

inline constexpr const char* kOfTag = nullptr;
inline constexpr const char* kCounts = "transactions that ended";
inline constexpr const char* kTimes = "total duration of transactions";
inline constexpr const char* kDurations = "durations of transactions";

inline constexpr MetricRow kMetricRows[] = {
    {TraceType::Transact, Quantity::Calls, Ending::Completed, "trace.transact.count",
     "{transaction}", "completed", Shape::Total, kCounts},
    {TraceType::Transact, Quantity::Calls, Ending::Failed, "trace.transact.count", "{transaction}",
     "failed", Shape::Total, kCounts},
    {TraceType::Transact, Quantity::Vanished, Ending::Completed, "trace.transact.count",
     "{transaction}", "vanished", Shape::Total, kCounts},
    {TraceType::Transact, Quantity::Sum, Ending::Completed, "trace.transact.time", "s", "completed",
     Shape::Total, kTimes},
    {TraceType::Transact, Quantity::Sum, Ending::Failed, "trace.transact.time", "s", "failed",
     Shape::Total, kTimes},
    {TraceType::Transact, Quantity::Histogram, Ending::Completed, "trace.transact.duration", "s",
     "completed", Shape::Distribution, kDurations},
    {TraceType::Transact, Quantity::Histogram, Ending::Failed, "trace.transact.duration", "s",
     "failed", Shape::Distribution, kDurations},
    {TraceType::Transact, Quantity::InFlight, Ending::Completed, "trace.transact.inflight",
     "{transaction}", nullptr, Shape::Level, "transactions that are open"},

    {TraceType::Point, Quantity::Calls, Ending::Completed, "trace.point.count", "{point}", nullptr,
     Shape::Total, "points that were passed"},

    {TraceType::Observe, Quantity::Calls, Ending::Completed, "trace.observe.count", "{value}",
     nullptr, Shape::Total, "observed values"},
    {TraceType::Observe, Quantity::Nonfinite, Ending::Completed, "trace.observe.nonfinite",
     "{value}", nullptr, Shape::Total, "observed values that are in no sum and no distribution"},
    {TraceType::Observe, Quantity::Sum, Ending::Completed, "trace.observe.sum", kOfTag, nullptr,
     Shape::SignedTotal, "sum of the observed values"},
    {TraceType::Observe, Quantity::Last, Ending::Completed, "trace.observe.value", kOfTag, nullptr,
     Shape::Level, "value that was observed last"},
    {TraceType::Observe, Quantity::Histogram, Ending::Completed, "trace.observe.distribution",
     kOfTag, nullptr, Shape::Distribution, "observed values"},

    {TraceType::Counter, Quantity::Calls, Ending::Completed, "trace.counter.count", "{report}",
     nullptr, Shape::Total, "reports of the counter"},
    {TraceType::Counter, Quantity::Counted, Ending::Completed, "trace.counter.total", kOfTag,
     nullptr, Shape::Total, "what was added to the counter"},
    {TraceType::Counter, Quantity::Last, Ending::Completed, "trace.counter.value", kOfTag, nullptr,
     Shape::Level, "value that the program gave the counter last"},

    {kNoType, Quantity::Folded, Ending::Completed, "trace.agent.folded", "{call}", nullptr,
     Shape::Total, "calls counted without labels, for want of room"},
    {kNoType, Quantity::Overflowed, Ending::Completed, "trace.agent.overflowed", "{call}", nullptr,
     Shape::Total, "calls counted as (overflow), for want of room"},
    {kNoType, Quantity::Unsplit, Ending::Completed, "trace.agent.unsplit", "{tag}", nullptr,
     Shape::Total, "tags without room for the labels of the agent's option --split"},
};

// Null: it is not sent.
constexpr const MetricRow* row_of(const RecordedQuantity& what) {
  for (const MetricRow& row : kMetricRows)
    if (row.quantity == what.quantity &&
        (!is_of_tags(what.quantity) || (row.type == what.type && row.ending == what.ending)))
      return &row;
  return nullptr;
}

}  // namespace pcp::trace::command::otlp
