// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 3: the agent's own health, above all what it refused, dropped or thinned. Cluster 4: the
// trace library's statistics about itself, from each connected process.
#include "metrics/metric_table.hpp"

namespace pcp::trace::agent {

namespace {

template <IngestCounter IngestCounters::*Counter>
constexpr auto ingest = [](const AgentStatus& status) {
  return (status.ingest.*Counter).load(std::memory_order_relaxed);
};

template <std::uint64_t EngineCounters::*Counter>
constexpr auto engine = [](const AgentStatus& status) { return status.engine.*Counter; };

using Counters = wire::ClientCounters;

template <std::uint64_t Counters::*Counter>
constexpr auto counter = [](const Counters& counters) { return counters.*Counter; };

}  // namespace

std::vector<Metric> agent_metrics() {
  return {
      {3, 0, "trace.agent.clients", kNoIndom, PM_SEM_INSTANT, kCount,
       ingest<&IngestCounters::connections>},
      {3, 1, "trace.agent.sessions", kNoIndom, PM_SEM_INSTANT, kCount,
       ingest<&IngestCounters::sessions>},
      {3, 2, "trace.agent.accepted", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::accepted>},
      {3, 3, "trace.agent.refused.permission", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::refused_permission>},
      {3, 4, "trace.agent.refused.limit", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::refused_limit>},
      {3, 5, "trace.agent.refused.quota", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::refused_quota>},
      {3, 6, "trace.agent.dropped.malformed", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::dropped_malformed>},
      {3, 7, "trace.agent.dropped.timeout", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::dropped_timeout>},
      {3, 8, "trace.agent.dropped.limit", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::dropped_limit>},

      {3, 9, "trace.agent.pdus", kNoIndom, PM_SEM_COUNTER, kCount, ingest<&IngestCounters::pdus>},
      {3, 10, "trace.agent.bytes", kNoIndom, PM_SEM_COUNTER, kBytes,
       ingest<&IngestCounters::bytes>},
      {3, 11, "trace.agent.batches", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::batches>},
      {3, 12, "trace.agent.duplicates", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::duplicates>},
      {3, 13, "trace.agent.records", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::records>},

      {3, 14, "trace.agent.tags", kNoIndom, PM_SEM_INSTANT, kCount, engine<&EngineCounters::tags>},
      {3, 15, "trace.agent.max_tags", kNoIndom, PM_SEM_DISCRETE, kCount,
       [](const AgentStatus& status) { return std::uint64_t{status.options.max_tags}; }},
      {3, 16, "trace.agent.overflowed", kNoIndom, PM_SEM_COUNTER, kCount,
       engine<&EngineCounters::overflowed>},
      {3, 17, "trace.agent.late", kNoIndom, PM_SEM_COUNTER, kCount, engine<&EngineCounters::late>},
      {3, 18, "trace.agent.coarsenings", kNoIndom, PM_SEM_COUNTER, kCount,
       engine<&EngineCounters::coarsenings>},
      {3, 19, "trace.agent.rotations", kNoIndom, PM_SEM_COUNTER, kCount,
       engine<&EngineCounters::rotations>},

      {3, 20, "trace.agent.memory.histograms", kNoIndom, PM_SEM_INSTANT, kBytes,
       engine<&EngineCounters::histogram_bytes>},
      {3, 21, "trace.agent.memory.resident", kNoIndom, PM_SEM_INSTANT, kBytes,
       [](const AgentStatus& status) { return status.resident_bytes; }},
      {3, 22, "trace.agent.cpu.main", kNoIndom, PM_SEM_COUNTER, kNanoseconds,
       [](const AgentStatus& status) { return status.main_cpu_ns; }},
      {3, 23, "trace.agent.cpu.ingest", kNoIndom, PM_SEM_COUNTER, kNanoseconds,
       ingest<&IngestCounters::busy_ns>},
      {3, 24, "trace.agent.uptime", kNoIndom, PM_SEM_INSTANT, kSeconds,
       [](const AgentStatus& status) { return status.uptime_s; }},

      {3, 25, "trace.agent.period", kNoIndom, PM_SEM_DISCRETE, kSeconds,
       [](const AgentStatus& status) { return status.period_s(); }},
      {3, 26, "trace.agent.interval", kNoIndom, PM_SEM_DISCRETE, kSeconds,
       [](const AgentStatus& status) { return status.interval_s(); }},
      {3, 27, "trace.agent.debug", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
       [](const AgentStatus& status) { return status.debug_options.c_str(); }, Store::DebugOptions},

      {3, 28, "trace.agent.labels.refused", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::labels_refused>},
      {3, 29, "trace.agent.labels.left_out", kNoIndom, PM_SEM_COUNTER, kCount,
       [](const AgentStatus& status) { return status.labels_left_out; }},
      {3, 30, "trace.agent.folded", kNoIndom, PM_SEM_COUNTER, kCount,
       engine<&EngineCounters::folded>},
      {3, 31, "trace.agent.unsplit", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::unsplit>},
      {3, 32, "trace.agent.histograms.left_out", kNoIndom, PM_SEM_COUNTER, kCount,
       [](const AgentStatus& status) { return status.histograms_left_out; }},
      {3, 33, "trace.agent.memory.cumulative", kNoIndom, PM_SEM_INSTANT, kBytes,
       engine<&EngineCounters::cumulative_bytes>},
      {3, 34, "trace.agent.inflight_left_out", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::in_flight_left_out>},
      {3, 35, "trace.agent.started", kNoIndom, PM_SEM_DISCRETE, kSeconds,
       [](const AgentStatus& status) { return status.started_s; }},
      {3, 36, "trace.agent.reset", kNoIndom, PM_SEM_DISCRETE, kSeconds,
       [](const AgentStatus& status) { return status.reset_s; }},
      {3, 37, "trace.agent.folding", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::folding>},
      {3, 38, "trace.agent.black_boxes.read", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::boxes_read>},
      {3, 39, "trace.agent.black_boxes.refused", kNoIndom, PM_SEM_COUNTER, kCount,
       ingest<&IngestCounters::boxes_refused>},
      {3, 40, "trace.agent.black_boxes.held", kNoIndom, PM_SEM_INSTANT, kCount,
       ingest<&IngestCounters::boxes>},

      {4, 0, "trace.client.recorded", kClientIndom, PM_SEM_COUNTER, kCount,
       counter<&Counters::recorded>},
      {4, 1, "trace.client.sent", kClientIndom, PM_SEM_COUNTER, kCount, counter<&Counters::sent>},
      {4, 2, "trace.client.merged", kClientIndom, PM_SEM_COUNTER, kCount,
       counter<&Counters::merged>},
      {4, 3, "trace.client.thinned", kClientIndom, PM_SEM_COUNTER, kCount,
       counter<&Counters::thinned>},
      {4, 4, "trace.client.uncertain", kClientIndom, PM_SEM_COUNTER, kCount,
       counter<&Counters::uncertain>},
      {4, 5, "trace.client.reconnects", kClientIndom, PM_SEM_COUNTER, kCount,
       counter<&Counters::reconnects>},
  };
}

}  // namespace pcp::trace::agent
