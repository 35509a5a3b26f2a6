// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 3: the agent's own health, above all what it refused, dropped or thinned.
#include "metrics/metric_table.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

namespace {

template <IngestCounters::Counter IngestCounters::*Counter>
constexpr auto ingest = [](const AgentStatus& status) {
  return (status.ingest.*Counter).load(std::memory_order_relaxed);
};

template <std::uint64_t EngineCounters::*Counter>
constexpr auto engine = [](const AgentStatus& status) { return status.engine.*Counter; };

}  // namespace

std::vector<Metric> status_metrics() {
  // clang-format off
  return {
    {3, 0, "trace.agent.clients", kNoIndom, PM_SEM_INSTANT, kCount,
     ingest<&IngestCounters::connections>,
     {"programs connected now",
      R"(Open connections of traced programs, by TCP and by the Unix socket together.
)"}},
    {3, 1, "trace.agent.sessions", kNoIndom, PM_SEM_INSTANT, kCount,
     ingest<&IngestCounters::sessions>,
     {"processes that the agent remembers",
      R"(Processes that are connected, or were and may come back: the agent keeps what
it needs not to count anything twice.
)"}},
    {3, 2, "trace.agent.accepted", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::accepted>,
     {"connections accepted",
      R"(Connections of traced programs that were let in since the agent started.
)"}},
    {3, 3, "trace.agent.refused.permission", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::refused_permission>,
     {"connections refused by access control",
      R"(Connections from hosts that the agent's rules (option -A) keep out.
)"}},
    {3, 4, "trace.agent.refused.limit", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::refused_limit>,
     {"connections refused because there were too many",
      R"(Connections beyond the number that a rule (option -A) allows its hosts, or
beyond what the agent serves in total.
)"}},
    {3, 5, "trace.agent.refused.quota", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::refused_quota>,
     {"processes refused because their user had too many",
      R"(Processes turned away because the agent remembers as many of the same user
as it does at most.
)"}},
    {3, 6, "trace.agent.dropped.malformed", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::dropped_malformed>,
     {"connections dropped for breaking the protocol",
      R"(Connections that were closed because what came over them made no sense. The
agent's log names them.
)"}},
    {3, 7, "trace.agent.dropped.timeout", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::dropped_timeout>,
     {"connections dropped for an unfinished message",
      R"(Connections that were closed because the rest of a message did not arrive in
time.
)"}},
    {3, 8, "trace.agent.dropped.limit", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::dropped_limit>,
     {"connections dropped for going over a limit",
      R"(Connections that were closed because their process, or all together, wanted more
tags, labels or unfinished messages than the agent keeps or has memory for.
)"}},

    {3, 9, "trace.agent.pdus", kNoIndom, PM_SEM_COUNTER, kCount, ingest<&IngestCounters::pdus>,
     {"messages received",
      R"(Messages of all kinds that traced programs have sent.
)"}},
    {3, 10, "trace.agent.bytes", kNoIndom, PM_SEM_COUNTER, kBytes, ingest<&IngestCounters::bytes>,
     {"bytes received",
      R"(Bytes that traced programs have sent.
)"}},
    {3, 11, "trace.agent.batches", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::batches>,
     {"batches applied",
      R"(Batches of collected numbers that were added to the tags. Programs with the
older library send single events instead.
)"}},
    {3, 12, "trace.agent.duplicates", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::duplicates>,
     {"batches received a second time",
      R"(Batches that a program sent again, not knowing that they had arrived. They were
recognised and not counted twice.
)"}},
    {3, 13, "trace.agent.records", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::records>,
     {"trace calls applied",
      R"(Calls of the trace library whose numbers have arrived here.
)"}},

    {3, 14, "trace.agent.tags", kNoIndom, PM_SEM_INSTANT, kCount, engine<&EngineCounters::tags>,
     {"tags that have values",
      R"(Tags of all types together: so many instances are shown, and of each type that
has had too many the one of the name (overflow).
)"}},
    {3, 15, "trace.agent.max_tags", kNoIndom, PM_SEM_DISCRETE, kCount,
     [](const AgentStatus& status) { return std::uint64_t{status.options.max_tags}; },
     {"tags that the agent keeps apart at most",
      R"(The agent's option --max-tags. Calls for further tags are counted in their
type's one instance for the overflow.
)"}},
    {3, 16, "trace.agent.overflowed", kNoIndom, PM_SEM_COUNTER, kCount,
     engine<&EngineCounters::overflowed>,
     {"trace calls whose tag had no room",
      R"(Calls whose tag got no instance of its own because there were too many tags,
in the agent or in their process: the instance (overflow) of their type has
them, and nothing is lost but the name.
)"}},
    {3, 17, "trace.agent.late", kNoIndom, PM_SEM_COUNTER, kCount, engine<&EngineCounters::late>,
     {"trace calls that came too late for the window",
      R"(Calls that were older than the window when they arrived, after an outage for
instance. Counts and totals have them; rates, means, extrema and percentiles
do not.
)"}},
    {3, 18, "trace.agent.coarsenings", kNoIndom, PM_SEM_COUNTER, kCount,
     engine<&EngineCounters::coarsenings>,
     {"times that percentiles lost resolution",
      R"(How often a histogram was halved in resolution because all together would have
taken too much memory.
)"}},
    {3, 19, "trace.agent.rotations", kNoIndom, PM_SEM_COUNTER, kCount,
     engine<&EngineCounters::rotations>,
     {"steps that the window has made",
      R"(Intervals (trace.agent.interval) completed since the agent started.
)"}},

    {3, 20, "trace.agent.memory.histograms", kNoIndom, PM_SEM_INSTANT, kBytes,
     engine<&EngineCounters::histogram_bytes>,
     {"memory in use for percentiles",
      R"(The histograms of all tags.
)"}},
    {3, 21, "trace.agent.memory.resident", kNoIndom, PM_SEM_INSTANT, kBytes,
     [](const AgentStatus& status) { return status.resident_bytes; },
     {"memory in use by the agent",
      R"(The resident set of the agent's process.
)"}},
    {3, 22, "trace.agent.cpu.main", kNoIndom, PM_SEM_COUNTER, kNanoseconds,
     [](const AgentStatus& status) { return status.main_cpu_ns; },
     {"CPU time spent on answering pmcd",
      R"(User and system time of the agent's main thread.
)"}},
    {3, 23, "trace.agent.cpu.ingest", kNoIndom, PM_SEM_COUNTER, kNanoseconds,
     ingest<&IngestCounters::busy_ns>,
     {"CPU time spent on traced programs",
      R"(User and system time of the thread that receives what programs send.
)"}},
    {3, 24, "trace.agent.uptime", kNoIndom, PM_SEM_INSTANT, kSeconds,
     [](const AgentStatus& status) { return status.uptime_s; },
     {"time since the agent started",
      R"(How long this agent has been running.
)"}},

    {3, 25, "trace.agent.period", kNoIndom, PM_SEM_DISCRETE, kSeconds,
     [](const AgentStatus& status) { return status.period_s(); },
     {"length of the window",
      R"(As trace.control.period, with its fraction of a second.
)"}},
    {3, 26, "trace.agent.interval", kNoIndom, PM_SEM_DISCRETE, kSeconds,
     [](const AgentStatus& status) { return status.interval_s(); },
     {"time between two steps of the window",
      R"(As trace.control.interval, with its fraction of a second.
)"}},
    {3, 27, "trace.agent.debug", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
     [](const AgentStatus& status) { return status.debug_options.c_str(); },
     {"PCP debug options of the agent, by name",
      R"(Storing a comma-separated list of pmdbg(1)'s options with pmstore(1) replaces
those that are on; "none" turns all off. Their output goes to the agent's
log. May be stored by those who may store trace.control.reset.
)"},
     Store::DebugOptions},

    {3, 28, "trace.agent.labels.refused", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::labels_refused>,
     {"labels of programs that the agent did not take",
      R"(Labels whose names PCP does not allow, that only PCP or the agent may give, or
that were more than a process or its user may have. The process is not shown
with them; everything else of it is.
)"}},
    {3, 29, "trace.agent.labels.left_out", kNoIndom, PM_SEM_COUNTER, kCount,
     [](const AgentStatus& status) { return status.labels_left_out; },
     {"instances whose program's labels were left out of an answer",
      R"(The labels of tags and of programs take a limited number of bytes in one
answer, shared out fairly to users and their processes. Each time that labels
were asked for, this grows by the number of instances that were shown without
them, with the label "tag" or "pid" only, or without their unit and
description, for which there is only the room that all other labels leave.
)"}},
    {3, 30, "trace.agent.folded", kNoIndom, PM_SEM_COUNTER, kCount, engine<&EngineCounters::folded>,
     {"trace calls whose tag had labels and no room",
      R"(Calls whose tag, as in request{route=/cart}, got no instance of its own because
there were too many tags, in the agent or in the programs of their user: the
instance of the name before the labels has them, and nothing is lost but the
labels.
)"}},
    {3, 31, "trace.agent.unsplit", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::unsplit>,
     {"tags that were too long to be split",
      R"(Tags of processes that the agent's option --split should have given labels, and
that stayed as they are: they would have more than 254 bytes or 16 labels.
)"}},
    {3, 32, "trace.agent.histograms.left_out", kNoIndom, PM_SEM_COUNTER, kCount,
     [](const AgentStatus& status) { return status.histograms_left_out; },
     {"values of tracing.histogram that were left out of an answer",
      R"(Each time that tracing.histogram.transact or tracing.histogram.observe was asked
for, this grows by the number of tags that had no value: all values of an answer
take at most 16 MiB together, that of a tag 4 KiB before it is written as text,
and all that the agent keeps for them what its option --histogram-memory says.
)"}},
    {3, 33, "trace.agent.memory.cumulative", kNoIndom, PM_SEM_INSTANT, kBytes,
     engine<&EngineCounters::cumulative_bytes>,
     {"memory in use for tracing.histogram",
      R"(The histograms of all values since some time, beside those of the window in
trace.agent.memory.histograms: nothing before somebody asked for one.
)"}},
    {3, 34, "trace.agent.inflight_left_out", kNoIndom, PM_SEM_COUNTER, kCount,
     ingest<&IngestCounters::in_flight_left_out>,
     {"reports of open transactions for which there was no room",
      R"(The agent keeps what 100,000 tags of processes have in flight, half of these for
one user. Each time that a process told of one more this grew by 1, and
trace.transact.inflight misses what it told. All counts are as they should be.
)"}},
    {3, 35, "trace.agent.started", kNoIndom, PM_SEM_DISCRETE, kSeconds,
     [](const AgentStatus& status) { return status.started_s; },
     {"when the agent started, in seconds since 1970",
      R"(Where it differs between two samples the agent of the second one is another,
which began at 0 in between: what the first one had counted by then is lost.
)"}},
    {3, 36, "trace.agent.reset", kNoIndom, PM_SEM_DISCRETE, kSeconds,
     [](const AgentStatus& status) { return status.reset_s; },
     {"when all tags were reset last, in seconds since 1970",
      R"(The last time that something was stored in trace.control.reset, or the agent's
start if nothing was. Where it differs between two samples all counts of the
second one began at 0 in between.
)"}},
  };
  // clang-format on
}

}  // namespace pcp::trace::agent
