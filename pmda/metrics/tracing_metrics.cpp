// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 5: spans as PCP events, and their control. Cluster 7: distributions that can be added and
// subtracted. They are outside of `trace`, because fetching all of `trace` should not include them.
#include "metrics/metric_table.hpp"
#include "metrics/span_items.hpp"

namespace pcp::trace::agent {

namespace {

// Event parameters have values only within events.
template <typename Value>
constexpr auto parameter = [](const AgentStatus&) { return std::optional<Value>(); };
constexpr auto text = parameter<std::string>;
constexpr auto number = parameter<std::uint32_t>;

template <std::uint32_t SpanControls::*Control>
constexpr auto control = [](const AgentStatus& status) { return status.span_controls.*Control; };

template <MissedCause Cause>
constexpr auto missed =
    [](const AgentStatus& status) { return status.spans.missed[static_cast<std::size_t>(Cause)]; };

constexpr unsigned kFirstControl = 30;
constexpr unsigned kBacklog = 40;
constexpr unsigned kFirstOfAgent = 50;

constexpr auto histogram_text = [](const HistogramText& histogram) {
  return histogram.text.c_str();
};

}  // namespace

std::vector<Metric> tracing_metrics() {
  return {
      {5, kEventsItem, "tracing.events", kNoIndom, PM_SEM_INSTANT, kNoUnits,
       [](const EventBlock& events) { return events; }, Store::OwnFilter},

      {5, kSpanParam, "tracing.param.span", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kParentParam, "tracing.param.parent", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kTraceParam, "tracing.param.trace", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kTagParam, "tracing.param.tag", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kServiceParam, "tracing.param.service", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kProcessParam, "tracing.param.process", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kHostParam, "tracing.param.host", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kAttributesParam, "tracing.param.attributes", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kLinksParam, "tracing.param.links", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kReasonParam, "tracing.param.reason", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kKindParam, "tracing.param.kind", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kStatusParam, "tracing.param.status", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text},
      {5, kPidParam, "tracing.param.pid", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number},
      {5, kTidParam, "tracing.param.tid", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number},
      {5, kFlagsParam, "tracing.param.flags", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number},
      {5, kMissingParam, "tracing.param.missing", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number},
      {5, kTimeParam, "tracing.param.time", kNoIndom, PM_SEM_DISCRETE, kNanoseconds,
       parameter<std::uint64_t>},
      {5, kDurationParam, "tracing.param.duration", kNoIndom, PM_SEM_DISCRETE, kNanoseconds,
       parameter<std::uint64_t>},
      {5, kValueParam, "tracing.param.value", kNoIndom, PM_SEM_INSTANT, kNoUnits,
       parameter<double>},

      {5, kFirstControl, "tracing.control.filter", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
       [](const AgentStatus& status) { return status.span_controls.filter; }, Store::CommonFilter},
      {5, kFirstControl + 1, "tracing.control.fetch", kNoIndom, PM_SEM_DISCRETE, kBytes,
       control<&SpanControls::fetch_bytes>, Store::FetchBytes},
      {5, kFirstControl + 2, "tracing.control.memory", kNoIndom, PM_SEM_DISCRETE, kBytes,
       control<&SpanControls::memory_bytes>, Store::SpanBytes},
      {5, kFirstControl + 3, "tracing.control.idle", kNoIndom, PM_SEM_DISCRETE, kSeconds,
       control<&SpanControls::idle_s>, Store::IdleSeconds},

      {5, kBacklog, "tracing.backlog", kNoIndom, PM_SEM_INSTANT, kCount,
       control<&SpanControls::backlog>},
      {5, kBacklog + 1, "tracing.lapses", kNoIndom, PM_SEM_COUNTER, kCount,
       control<&SpanControls::lapses>},
      {5, kBacklog + 2, "tracing.wanted", kNoIndom, PM_SEM_INSTANT, kNoUnits,
       [](const AgentStatus& status) {
         return status.span_desk != nullptr ? status.span_desk->take_wanted() : std::string();
       },
       Store::Wanted},

      {5, kFirstOfAgent, "tracing.agent.captures", kNoIndom, PM_SEM_INSTANT, kCount,
       [](const AgentStatus& status) { return status.spans.captures; }},
      {5, kFirstOfAgent + 1, "tracing.agent.captured", kNoIndom, PM_SEM_COUNTER, kCount,
       [](const AgentStatus& status) { return status.spans.captured; }},
      {5, kFirstOfAgent + 2, "tracing.agent.delivered", kNoIndom, PM_SEM_COUNTER, kCount,
       [](const AgentStatus& status) { return status.spans.delivered; }},
      {5, kFirstOfAgent + 3, "tracing.agent.missed.full", kNoIndom, PM_SEM_COUNTER, kCount,
       missed<MissedCause::Full>},
      {5, kFirstOfAgent + 4, "tracing.agent.missed.limit", kNoIndom, PM_SEM_COUNTER, kCount,
       missed<MissedCause::Limit>},
      {5, kFirstOfAgent + 5, "tracing.agent.missed.waiting", kNoIndom, PM_SEM_COUNTER, kCount,
       missed<MissedCause::Waiting>},
      {5, kFirstOfAgent + 6, "tracing.agent.missed.away", kNoIndom, PM_SEM_COUNTER, kCount,
       missed<MissedCause::Away>},
      {5, kFirstOfAgent + 7, "tracing.agent.missed.overwritten", kNoIndom, PM_SEM_COUNTER, kCount,
       [](const AgentStatus& status) { return status.spans.overwritten; }},
      {5, kFirstOfAgent + 8, "tracing.agent.bytes", kNoIndom, PM_SEM_INSTANT, kBytes,
       [](const AgentStatus& status) { return status.spans.bytes; }},

      {7, 0, "tracing.histogram.transact", kTransactIndom, PM_SEM_INSTANT, kNoUnits,
       histogram_text},
      {7, 1, "tracing.histogram.observe", kObserveIndom, PM_SEM_INSTANT, kNoUnits, histogram_text},
      {7, 2, "tracing.histogram.abort", kTransactIndom, PM_SEM_INSTANT, kNoUnits, histogram_text,
       Store::Refused, Outcome::Failed},
  };
}

}  // namespace pcp::trace::agent
