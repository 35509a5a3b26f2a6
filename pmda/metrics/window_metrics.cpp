// SPDX-License-Identifier: LGPL-2.1-or-later
// Clusters 1, 2 and 6: the distributions of transaction durations and observed values over the
// window, and other metrics that cluster 0 lacks, including one for counters.
#include "metrics/metric_table.hpp"
#include "metrics/tag_values.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

static_assert(kQuantiles == std::array{0.50, 0.90, 0.95, 0.99, 0.999});

std::vector<Metric> window_metrics(const ValueUnits& units) {
  // clang-format off
  return {
    {1, 0, "trace.transact.p50", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<0>,
     {"median duration of a transaction over the window, by tag",
      R"(Half of the transactions completed in the window took no longer than this.
At most 2% beside the truth, as are the other percentiles, unless
trace.transact.percentile_error says that it may be more.
)"}},
    {1, 1, "trace.transact.p90", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<1>,
     {"90th percentile of a transaction's duration over the window, by tag",
      R"(Nine of ten transactions completed in the window took no longer than this.
)"}},
    {1, 2, "trace.transact.p95", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<2>,
     {"95th percentile of a transaction's duration over the window, by tag",
      R"(Only one in twenty of the transactions completed in the window took longer.
)"}},
    {1, 3, "trace.transact.p99", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<3>,
     {"99th percentile of a transaction's duration over the window, by tag",
      R"(Only one in a hundred of the transactions completed in the window took
longer.
)"}},
    {1, 4, "trace.transact.p999", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<4>,
     {"99.9th percentile of a transaction's duration over the window, by tag",
      R"(Only one in a thousand of the transactions completed in the window took
longer.
)"}},
    {1, 5, "trace.transact.aborts", kTransactIndom, PM_SEM_COUNTER, kCount, aborts,
     {"transactions aborted, by tag",
      R"(How often a program gave a transaction up with pmtraceabort instead of ending
it, since the agent first heard of the tag or since the last reset. No other
metric counts these.
)"}},
    {1, 6, "trace.transact.percentile_error", kTransactIndom, PM_SEM_INSTANT, kNoUnits,
     quantile_error,
     {"how far percentiles of a transaction may be off, by tag",
      R"(The greatest error that the percentiles of the durations have now, as a part of
the true value. Usually 0.016; it doubles with each step by which they had to
become coarser, because the agent was short of memory (see
trace.agent.coarsenings) or a process sent more different values than fit into
its message.
)"}},

    {2, 0, "trace.observe.ave", kObserveIndom, PM_SEM_INSTANT, units.observation, average,
     {"mean observed value over the window, by tag",
      R"(The sum of the values reported in the window, divided by their number. Here
and in all the metrics below values that are not finite are left out.
)"}},
    {2, 1, "trace.observe.min", kObserveIndom, PM_SEM_INSTANT, units.observation, least,
     {"smallest value observed in the window, by tag",
      R"(The smallest of the values reported in the window.
)"}},
    {2, 2, "trace.observe.max", kObserveIndom, PM_SEM_INSTANT, units.observation, greatest,
     {"largest value observed in the window, by tag",
      R"(The largest of the values reported in the window.
)"}},
    {2, 3, "trace.observe.p50", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<0>,
     {"median of the values observed in the window, by tag",
      R"(Half of the values reported in the window are not above this. At most 2%
beside the truth, as are the other percentiles, unless
trace.observe.percentile_error says that it may be more.
)"}},
    {2, 4, "trace.observe.p90", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<1>,
     {"90th percentile of the values observed in the window, by tag",
      R"(Nine of ten values reported in the window are not above this.
)"}},
    {2, 5, "trace.observe.p95", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<2>,
     {"95th percentile of the values observed in the window, by tag",
      R"(Only one in twenty of the values reported in the window is above this.
)"}},
    {2, 6, "trace.observe.p99", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<3>,
     {"99th percentile of the values observed in the window, by tag",
      R"(Only one in a hundred of the values reported in the window is above this.
)"}},
    {2, 7, "trace.observe.p999", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<4>,
     {"99.9th percentile of the values observed in the window, by tag",
      R"(Only one in a thousand of the values reported in the window is above this.
)"}},
    {2, 8, "trace.observe.sum", kObserveIndom, PM_SEM_COUNTER, units.observation, sum,
     {"sum of all observed values, by tag",
      R"(All values of the observation added up, since the agent first heard of the
tag or since the last reset. With trace.observe.count it gives the mean over
any time. It only grows if no value is negative. A sum that was ever too great
for a double is not known any more, and stays at the greatest (1.8e308).
)"}},
    {2, 9, "trace.observe.percentile_error", kObserveIndom, PM_SEM_INSTANT, kNoUnits,
     quantile_error,
     {"how far percentiles of the observed values may be off, by tag",
      R"(The greatest error that the percentiles of the values have now, as a part of
the true value. Usually 0.016; it doubles with each step by which they had to
become coarser, because the agent was short of memory (see
trace.agent.coarsenings) or a process sent more different values than fit into
its message.
)"}},

    {6, 0, "trace.counter.total", kCounterIndom, PM_SEM_COUNTER, units.counter, added,
     {"sum of all that programs have added to a counter, by tag",
      R"(The sum that all programs have added to each counter (pmtrace_add) since the
agent first heard of the tag, or since the last reset: exact for whole numbers
up to 2^53. The agent's option -V says in which units. No value for a tag to
which nothing was ever added; what programs report as a counter's value is in
trace.counter.value.
)"}},
  };
  // clang-format on
}

}  // namespace pcp::trace::agent
