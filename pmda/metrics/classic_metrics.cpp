// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 0: the metrics of every trace agent. Tools, archives and rules rely on their identifiers,
// types, units and semantics.
#include <algorithm>

#include "metrics/metric_table.hpp"
#include "metrics/tag_values.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

std::vector<Metric> classic_metrics(const ValueUnits& units) {
  // clang-format off
  return {
    {0, 0, "trace.transact.count", kTransactIndom, PM_SEM_COUNTER, kCount, count,
     {"transactions completed, by tag",
      R"(How often each transaction has been completed since the agent first heard of
its tag, or since the last reset. Aborted transactions are not in here; see
trace.transact.aborts.
)"}},
    {0, 1, "trace.transact.rate", kTransactIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate),
     {"transactions per second over the window, by tag",
      R"(The number of transactions completed in the window, divided by the length of
the window (trace.control.period). No value for a tag that has completed
nothing in it.
)"}},
    {0, 2, "trace.transact.ave_time", kTransactIndom, PM_SEM_INSTANT, kSecondsEach,
     as_float(average),
     {"mean duration of a transaction over the window, by tag",
      R"(The time that transactions completed in the window took, divided by their
number.
)"}},
    {0, 3, "trace.transact.min_time", kTransactIndom, PM_SEM_INSTANT, kSeconds, as_float(least),
     {"shortest transaction of the window, by tag",
      R"(How long the fastest transaction completed in the window took.
)"}},
    {0, 4, "trace.transact.max_time", kTransactIndom, PM_SEM_INSTANT, kSeconds, as_float(greatest),
     {"longest transaction of the window, by tag",
      R"(How long the slowest transaction completed in the window took.
)"}},
    {0, 5, "trace.transact.total_time", kTransactIndom, PM_SEM_COUNTER, kSeconds, sum,
     {"time spent in transactions, by tag",
      R"(The durations of all completed transactions added up, since the agent first
heard of the tag or since the last reset. Its rate is the mean number of
transactions under way at a time.
)"}},

    {0, 6, "trace.point.count", kPointIndom, PM_SEM_COUNTER, kCount, count,
     {"times that a point was passed, by tag",
      R"(How often programs have passed each point since the agent first heard of
its tag, or since the last reset.
)"}},
    {0, 7, "trace.point.rate", kPointIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate),
     {"passes of a point per second over the window, by tag",
      R"(How often the point was passed in the window, divided by the length of the
window (trace.control.period). No value for a tag that was not passed in it.
)"}},

    {0, 8, "trace.observe.count", kObserveIndom, PM_SEM_COUNTER, kCount, count,
     {"observations made, by tag",
      R"(How many values programs have reported for each observation since the
agent first heard of its tag, or since the last reset.
)"}},
    {0, 9, "trace.observe.rate", kObserveIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate),
     {"observations per second over the window, by tag",
      R"(The number of values reported in the window, divided by the length of the
window (trace.control.period). No value for a tag with none in it.
)"}},
    {0, 10, "trace.observe.value", kObserveIndom, PM_SEM_INSTANT, units.observation, last,
     {"value last observed, by tag",
      R"(The most recent value of each observation, shown at once and exactly as the
program gave it. The agent's option -U says in which units.
)"}},

    {0, 17, "trace.counter.count", kCounterIndom, PM_SEM_COUNTER, kCount, count,
     {"reports of a counter, by tag",
      R"(How often programs have reported a value of each counter, or added to it,
since the agent first heard of its tag, or since the last reset.
)"}},
    {0, 18, "trace.counter.rate", kCounterIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate),
     {"reports of a counter per second over the window, by tag",
      R"(How often a value of the counter was reported in the window, or added to it,
divided by the length of the window (trace.control.period). This is not the
rate at which the counter itself grows: PCP's tools derive that from
trace.counter.value and trace.counter.total.
)"}},
    {0, 19, "trace.counter.value", kCounterIndom, PM_SEM_COUNTER, units.counter, last_reported,
     {"value last reported for a counter, by tag",
      R"(The most recent value of each counter, shown at once. The agent's option -V
says in which units. No value for a tag to which programs only add; see
trace.counter.total.
)"}},

    {0, 11, "trace.control.period", kNoIndom, PM_SEM_DISCRETE, kSeconds,
     [](const AgentStatus& status) { return static_cast<std::uint32_t>(status.period_s()); },
     {"length of the window in whole seconds",
      R"(The window from which rates, means, extrema and percentiles come covers this
time. The agent's option -T sets it; trace.agent.period has its fraction too.
)"}},
    {0, 12, "trace.control.interval", kNoIndom, PM_SEM_DISCRETE, kSeconds,
     [](const AgentStatus& status) {
       return std::max(1u, static_cast<std::uint32_t>(status.interval_s()));
     },
     {"time between two steps of the window in whole seconds",
      R"(The window moves on by this time, its length divided by the number of its
buckets: at least 1 here. trace.agent.interval has its fraction too.
)"}},
    {0, 13, "trace.control.buckets", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
     [](const AgentStatus& status) { return status.options.buckets; },
     {"steps into which the window is divided",
      R"(The more buckets, the smoother the window moves, and the more memory each
tag takes. The agent's option -N sets it.
)"}},
    {0, 14, "trace.control.port", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
     [](const AgentStatus& status) { return std::uint32_t{status.port}; },
     {"TCP port on which the agent listens for traced programs",
      R"(Programs find it by the environment variable PCP_TRACE_PORT. The agent's
option -I sets it.
)"}},
    {0, 15, "trace.control.reset", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
     [](const AgentStatus&) { return std::uint32_t{1}; },
     {"store anything here to forget all tags",
      R"(Storing any value with pmstore(1) takes all tags and their values away and
starts a new window. A tag comes back, under its old number, when a program
next reports something for it. Needs to be root, PCP's user or the user that
the agent runs as, connected through pmcd's Unix socket. Reads as 1.
)"},
     Store::Reset},
    {0, 16, "trace.control.debug", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
     [](const AgentStatus& status) { return status.shown_debug; },
     {"PCP debug options of the agent, as PCP's own agent has them",
      R"(Which of PCP's debug options are on: with PCP 7 their names, with PCP 6 a
number, in the numbering of pmdbg(1)'s older options. Storing that with
pmstore(1) replaces them; 0 turns all off. Their output goes to the agent's log.
trace.agent.debug does the same by name in either version. May be stored by
those who may store trace.control.reset.
)"},
     Store::DebugBits},
  };
  // clang-format on
}

}  // namespace pcp::trace::agent
