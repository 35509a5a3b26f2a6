// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/recorded_metrics.hpp"

namespace pcp::trace::command {

namespace {

constexpr auto kNoType = TraceType::Transact;

constexpr RecordedQuantity kQuantities[] = {
    {"trace.agent.uptime", kNoType, Quantity::Uptime},
    {"trace.agent.started", kNoType, Quantity::Started},
    {"trace.agent.reset", kNoType, Quantity::Reset},
    {"trace.control.period", kNoType, Quantity::WholePeriod},
    {"trace.agent.period", kNoType, Quantity::Period},

    {"trace.transact.count", TraceType::Transact, Quantity::Calls},
    {"trace.transact.aborts", TraceType::Transact, Quantity::Failed},
    {"trace.transact.vanished", TraceType::Transact, Quantity::Vanished},
    {"trace.transact.total_time", TraceType::Transact, Quantity::Sum},
    {"trace.transact.rate", TraceType::Transact, Quantity::Rate},
    {"trace.transact.min_time", TraceType::Transact, Quantity::Min},
    {"trace.transact.max_time", TraceType::Transact, Quantity::Max},
    {"trace.transact.p50", TraceType::Transact, Quantity::P50},
    {"trace.transact.p90", TraceType::Transact, Quantity::P90},
    {"trace.transact.p95", TraceType::Transact, Quantity::P95},
    {"trace.transact.p99", TraceType::Transact, Quantity::P99},
    {"trace.transact.p999", TraceType::Transact, Quantity::P999},
    {"tracing.histogram.transact", TraceType::Transact, Quantity::Histogram},

    {"trace.point.count", TraceType::Point, Quantity::Calls},

    {"trace.observe.count", TraceType::Observe, Quantity::Calls},
    {"trace.observe.sum", TraceType::Observe, Quantity::Sum},
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

}  // namespace

std::span<const RecordedQuantity> recorded_quantities() { return kQuantities; }

}  // namespace pcp::trace::command
