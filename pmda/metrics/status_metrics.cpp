// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 3: how the agent itself is doing, and above all what it refused, dropped or thinned.
#include "metrics/metric_table.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

namespace {

// Adds one item after another: the order below is the numbering, so new metrics go to the end.
class StatusMetrics {
 public:
  template <typename Function>
  void add(const char* name, int semantics, pmUnits units, Text text, Function read) {
    metrics_.push_back(status_metric({3, item_++}, name, semantics, units, text, read));
  }

  void count(const char* name, IngestCounters::Counter IngestCounters::*counter, Text text,
             pmUnits units = kCount) {
    add(name, PM_SEM_COUNTER, units, text,
        [counter](const AgentStatus& status) { return read(status, counter); });
  }

  void count(const char* name, std::uint64_t EngineCounters::*counter, Text text) {
    add(name, PM_SEM_COUNTER, kCount, text,
        [counter](const AgentStatus& status) { return status.engine.*counter; });
  }

  void level(const char* name, IngestCounters::Counter IngestCounters::*counter, Text text) {
    add(name, PM_SEM_INSTANT, kCount, text,
        [counter](const AgentStatus& status) { return read(status, counter); });
  }

  void level(const char* name, std::uint64_t EngineCounters::*counter, Text text, pmUnits units) {
    add(name, PM_SEM_INSTANT, units, text,
        [counter](const AgentStatus& status) { return status.engine.*counter; });
  }

  std::vector<Metric>& metrics() { return metrics_; }

 private:
  static std::uint64_t read(const AgentStatus& status,
                            IngestCounters::Counter IngestCounters::*counter) {
    return (status.ingest.*counter).load(std::memory_order_relaxed);
  }

  std::vector<Metric> metrics_;
  unsigned item_ = 0;
};

void add_connections(StatusMetrics& table) {
  table.level("trace.agent.clients", &IngestCounters::connections,
              {"programs connected now",
               R"(Open connections of traced programs, by TCP and by the Unix socket together.
)"});
  table.level("trace.agent.sessions", &IngestCounters::sessions,
              {"processes that the agent remembers",
               R"(Processes that are connected, or were and may come back: the agent keeps what
it needs not to count anything twice.
)"});
  table.count("trace.agent.accepted", &IngestCounters::accepted,
              {"connections accepted",
               R"(Connections of traced programs that were let in since the agent started.
)"});
  table.count("trace.agent.refused.permission", &IngestCounters::refused_permission,
              {"connections refused by access control",
               R"(Connections from hosts that the agent's rules (option -A) keep out.
)"});
  table.count("trace.agent.refused.limit", &IngestCounters::refused_limit,
              {"connections refused because there were too many",
               R"(Connections beyond the number that a rule (option -A) allows its hosts, or
beyond what the agent serves in total.
)"});
  table.count("trace.agent.refused.quota", &IngestCounters::refused_quota,
              {"processes refused because their user had too many",
               R"(Processes turned away because the agent remembers as many of the same user
as it does at most.
)"});
  table.count("trace.agent.dropped.malformed", &IngestCounters::dropped_malformed,
              {"connections dropped for breaking the protocol",
               R"(Connections that were closed because what came over them made no sense. The
agent's log names them.
)"});
  table.count("trace.agent.dropped.timeout", &IngestCounters::dropped_timeout,
              {"connections dropped for an unfinished message",
               R"(Connections that were closed because the rest of a message did not arrive in
time.
)"});
  table.count("trace.agent.dropped.limit", &IngestCounters::dropped_limit,
              {"connections dropped for going over a limit",
               R"(Connections that were closed because their process, or all together, wanted more
tags, labels or unfinished messages than the agent keeps.
)"});
}

void add_traffic(StatusMetrics& table) {
  table.count("trace.agent.pdus", &IngestCounters::pdus,
              {"messages received",
               R"(Messages of all kinds that traced programs have sent.
)"});
  table.count("trace.agent.bytes", &IngestCounters::bytes,
              {"bytes received",
               R"(Bytes that traced programs have sent.
)"},
              kBytes);
  table.count("trace.agent.batches", &IngestCounters::batches,
              {"batches applied",
               R"(Batches of collected numbers that were added to the tags. Programs with the
older library send single events instead.
)"});
  table.count("trace.agent.duplicates", &IngestCounters::duplicates,
              {"batches received a second time",
               R"(Batches that a program sent again, not knowing that they had arrived. They were
recognised and not counted twice.
)"});
  table.count("trace.agent.records", &IngestCounters::records,
              {"trace calls applied",
               R"(Calls of the trace library whose numbers have arrived here.
)"});
}

void add_engine(StatusMetrics& table) {
  table.level("trace.agent.tags", &EngineCounters::tags,
              {"tags that have values",
               R"(Tags of all types together, which is the number of instances shown.
)"},
              kCount);
  table.add("trace.agent.max_tags", PM_SEM_DISCRETE, kCount,
            {"tags that the agent keeps apart at most",
             R"(The agent's option --max-tags. What comes for further tags is counted in their
type's one instance for the overflow.
)"},
            [](const AgentStatus& status) { return std::uint64_t{status.options.max_tags}; });
  table.count("trace.agent.overflowed", &EngineCounters::overflowed,
              {"trace calls whose tag had no room",
               R"(Calls whose tag got no instance of its own because there were too many tags:
the instance (overflow) of their type has them, and nothing is lost but the
name.
)"});
  table.count("trace.agent.late", &EngineCounters::late,
              {"trace calls that came too late for the window",
               R"(Calls that were older than the window when they arrived, after an outage for
instance. Counts and totals have them; rates, means, extrema and percentiles
do not.
)"});
  table.count("trace.agent.coarsenings", &EngineCounters::coarsenings,
              {"times that percentiles lost resolution",
               R"(How often a histogram was halved in resolution because all together would have
taken too much memory.
)"});
  table.count("trace.agent.rotations", &EngineCounters::rotations,
              {"steps that the window has made",
               R"(Intervals (trace.agent.interval) completed since the agent started.
)"});
}

void add_resources(StatusMetrics& table) {
  table.level("trace.agent.memory.histograms", &EngineCounters::histogram_bytes,
              {"memory in use for percentiles",
               R"(What the histograms of all tags take.
)"},
              kBytes);
  table.add("trace.agent.memory.resident", PM_SEM_INSTANT, kBytes,
            {"memory in use by the agent",
             R"(The resident set of the agent's process.
)"},
            [](const AgentStatus& status) { return status.resident_bytes; });
  table.add("trace.agent.cpu.main", PM_SEM_COUNTER, kNanoseconds,
            {"CPU time spent on answering pmcd",
             R"(User and system time of the agent's main thread.
)"},
            [](const AgentStatus& status) { return status.main_cpu_ns; });
  table.count("trace.agent.cpu.ingest", &IngestCounters::busy_ns,
              {"CPU time spent on traced programs",
               R"(User and system time of the thread that receives what programs send.
)"},
              kNanoseconds);
  table.add("trace.agent.uptime", PM_SEM_INSTANT, kSeconds,
            {"time since the agent started",
             R"(How long this agent has been running.
)"},
            [](const AgentStatus& status) { return status.uptime_s; });
}

void add_settings(StatusMetrics& table) {
  table.add("trace.agent.period", PM_SEM_DISCRETE, kSeconds,
            {"length of the window",
             R"(As trace.control.period, with its fraction of a second.
)"},
            [](const AgentStatus& status) { return status.period_s(); });
  table.add("trace.agent.interval", PM_SEM_DISCRETE, kSeconds,
            {"time between two steps of the window",
             R"(As trace.control.interval, with its fraction of a second.
)"},
            [](const AgentStatus& status) { return status.interval_s(); });
  table.add("trace.agent.debug", PM_SEM_DISCRETE, kNoUnits,
            {"PCP debug options of the agent, by name",
             R"(Storing a comma-separated list of pmdbg(1)'s options with pmstore(1) replaces
those that are on; "none" turns all off. What they make PCP's libraries say
goes to the agent's log. May be stored by those who may store
trace.control.reset.
)"},
            [](const AgentStatus& status) { return status.debug_options.c_str(); });
  table.metrics().back().store = Store::DebugOptions;
}

void add_labels(StatusMetrics& table) {
  table.count("trace.agent.labels.refused", &IngestCounters::labels_refused,
              {"labels of programs that the agent did not take",
               R"(Labels whose names PCP does not allow, that only PCP or the agent may give, or
that were more than a process or its user may have. The process is not shown
with them; everything else of it is.
)"});
  table.add("trace.agent.labels.left_out", PM_SEM_COUNTER, kCount,
            {"instances whose program's labels were left out of an answer",
             R"(The labels that programs give take a limited number of bytes in one answer,
shared out fairly to users and their processes. Each time that labels were
asked for, this grows by the number of instances that were shown without
those of their program, with the label "tag" or "pid" only.
)"},
            [](const AgentStatus& status) { return status.labels_left_out; });
}

}  // namespace

std::vector<Metric> status_metrics() {
  StatusMetrics table;
  add_connections(table);
  add_traffic(table);
  add_engine(table);
  add_resources(table);
  add_settings(table);
  add_labels(table);
  return std::move(table.metrics());
}

}  // namespace pcp::trace::agent
