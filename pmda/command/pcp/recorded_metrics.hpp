// SPDX-License-Identifier: LGPL-2.1-or-later
// The metrics in archives that a report uses, by name, from the stock agent and ours, with their
// quantities. A report only shows other metrics if `record --also` has added them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/trace_type.hpp"

namespace pcp::trace::command {

// Single transactions.
inline constexpr const char* kEventsMetric = "tracing.events";

// The recorder's statements, each a record of its own: PCP's pmlogreduce repeats older values, but
// then with other metrics.
inline constexpr const char* kStateMetric = "trace.recording.state";
inline constexpr std::string_view kBegins = "begins";          // before the first sample
inline constexpr std::string_view kHasAll = "has all values";  // after a gap, before a sample
inline constexpr std::string_view kComplete = "complete";      // at the end; or why not

// True of the metrics of a trace agent, and of the recorder.
constexpr bool is_of_trace_agent(std::string_view metric) {
  return metric.starts_with("trace.") || metric.starts_with("tracing.");
}

// How a call ended. Only transactions can fail. A tag's failed calls have values of their own.
enum class Ending : std::uint8_t { Completed, Failed };

// In the order in which a sample's metrics must be handled.
enum class Quantity : std::uint8_t {
  Uptime,      // of the agent, in seconds
  Started,     // since 1970
  Reset,       // also since 1970
  Folded,      // calls that the agent counted under the bare name, for want of room
  Overflowed,  // calls that the agent counted under kOverflowName, for want of room
  Folding,     // processes that did either themselves, or did not say that they did not
  Unsplit,     // tags without room for the labels of --split
  WholePeriod,
  Period,    // length of the agent's window, in seconds
  Interval,  // after which the agent's window moves on
  Calls,     // from here on of tags; these six only grow, until the agent or the tag restarts
  Failed,    // only in reports: the calls that failed
  Sum,
  Vanished,
  Counted,
  Nonfinite,
  Last,      // levels: each stays until it is said anew
  InFlight,  // transactions open now
  Rate,      // from here on of calls in the window
  Min,
  Max,
  P50,
  P90,
  P95,
  P99,
  P999,
  Histogram,  // text
};

// The agent's own times, see agent_life.hpp.
constexpr bool is_of_life(Quantity quantity) { return quantity <= Quantity::Reset; }
constexpr bool is_of_tags(Quantity quantity) { return quantity >= Quantity::Calls; }
constexpr bool only_grows(Quantity quantity) {
  return quantity >= Quantity::Calls && quantity <= Quantity::Nonfinite;
}
constexpr bool is_level(Quantity quantity) {
  return quantity == Quantity::Last || quantity == Quantity::InFlight;
}
constexpr std::size_t index_of(Quantity quantity) {
  return static_cast<std::size_t>(quantity) - static_cast<std::size_t>(Quantity::Calls);
}
constexpr Quantity quantity_at(std::size_t index) {
  return static_cast<Quantity>(index + static_cast<std::size_t>(Quantity::Calls));
}
constexpr std::size_t kGrowing = index_of(Quantity::Last);  // number of quantities that only grow

// Index of p50 to p999 in kPercentiles.
constexpr std::optional<std::size_t> percentile_of(Quantity quantity) {
  if (quantity < Quantity::P50 || quantity > Quantity::P999) return {};
  return index_of(quantity) - index_of(Quantity::P50);
}

struct RecordedQuantity {
  const char* metric;
  TraceType type;  // only meaningful for quantities of tags
  Quantity quantity;
  Ending ending = Ending::Completed;
};

inline constexpr auto kNoType = TraceType::Transact;

inline constexpr RecordedQuantity kRecordedQuantities[] = {
    {"trace.agent.uptime", kNoType, Quantity::Uptime},
    {"trace.agent.started", kNoType, Quantity::Started},
    {"trace.agent.reset", kNoType, Quantity::Reset},
    {"trace.agent.folded", kNoType, Quantity::Folded},
    {"trace.agent.overflowed", kNoType, Quantity::Overflowed},
    {"trace.agent.folding", kNoType, Quantity::Folding},
    {"trace.agent.unsplit", kNoType, Quantity::Unsplit},
    {"trace.control.period", kNoType, Quantity::WholePeriod},
    {"trace.agent.period", kNoType, Quantity::Period},
    {"trace.agent.interval", kNoType, Quantity::Interval},

    {"trace.transact.count", TraceType::Transact, Quantity::Calls},
    {"trace.transact.vanished", TraceType::Transact, Quantity::Vanished},
    {"trace.transact.total_time", TraceType::Transact, Quantity::Sum},
    {"trace.transact.inflight", TraceType::Transact, Quantity::InFlight},
    {"trace.transact.rate", TraceType::Transact, Quantity::Rate},
    {"trace.transact.min_time", TraceType::Transact, Quantity::Min},
    {"trace.transact.max_time", TraceType::Transact, Quantity::Max},
    {"trace.transact.p50", TraceType::Transact, Quantity::P50},
    {"trace.transact.p90", TraceType::Transact, Quantity::P90},
    {"trace.transact.p95", TraceType::Transact, Quantity::P95},
    {"trace.transact.p99", TraceType::Transact, Quantity::P99},
    {"trace.transact.p999", TraceType::Transact, Quantity::P999},
    {"tracing.histogram.transact", TraceType::Transact, Quantity::Histogram},

    {"trace.transact.aborts", TraceType::Transact, Quantity::Calls, Ending::Failed},
    {"trace.transact.abort_time", TraceType::Transact, Quantity::Sum, Ending::Failed},
    {"trace.transact.abort_rate", TraceType::Transact, Quantity::Rate, Ending::Failed},
    {"trace.transact.abort_min", TraceType::Transact, Quantity::Min, Ending::Failed},
    {"trace.transact.abort_max", TraceType::Transact, Quantity::Max, Ending::Failed},
    {"tracing.histogram.abort", TraceType::Transact, Quantity::Histogram, Ending::Failed},

    {"trace.point.count", TraceType::Point, Quantity::Calls},

    {"trace.observe.count", TraceType::Observe, Quantity::Calls},
    {"trace.observe.sum", TraceType::Observe, Quantity::Sum},
    {"trace.observe.nonfinite", TraceType::Observe, Quantity::Nonfinite},
    {"trace.observe.value", TraceType::Observe, Quantity::Last},
    {"trace.observe.rate", TraceType::Observe, Quantity::Rate},
    {"trace.observe.min", TraceType::Observe, Quantity::Min},
    {"trace.observe.max", TraceType::Observe, Quantity::Max},
    {"trace.observe.p50", TraceType::Observe, Quantity::P50},
    {"trace.observe.p90", TraceType::Observe, Quantity::P90},
    {"trace.observe.p95", TraceType::Observe, Quantity::P95},
    {"trace.observe.p99", TraceType::Observe, Quantity::P99},
    {"trace.observe.p999", TraceType::Observe, Quantity::P999},
    {"tracing.histogram.observe", TraceType::Observe, Quantity::Histogram},

    {"trace.counter.count", TraceType::Counter, Quantity::Calls},
    {"trace.counter.total", TraceType::Counter, Quantity::Counted},
    {"trace.counter.value", TraceType::Counter, Quantity::Last},
};

}  // namespace pcp::trace::command
