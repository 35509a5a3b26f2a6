// SPDX-License-Identifier: LGPL-2.1-or-later
// Clusters 1 and 2: how the durations of transactions and the values of observations are
// distributed over the window, and what else cluster 0 lacks.
#include "metrics/metric_table.hpp"
#include "metrics/tag_values.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

namespace {

static_assert(kQuantiles == std::array{0.50, 0.90, 0.95, 0.99, 0.999});

std::vector<Metric> transact_metrics() {
  using enum TraceType;
  const auto percentile = [](unsigned item, const char* name, Text text, auto read) {
    return tag_metric({1, item}, name, Transact, PM_SEM_INSTANT, kSeconds, text, read);
  };
  return {
      percentile(0, "trace.transact.p50",
                 {"median duration of a transaction over the window, by tag",
                  R"(Half of the transactions completed in the window took no longer than this.
At most 2% beside the truth, as are the other percentiles.
)"},
                 quantile<0>),
      percentile(1, "trace.transact.p90",
                 {"90th percentile of a transaction's duration over the window, by tag",
                  R"(Nine of ten transactions completed in the window took no longer than this.
)"},
                 quantile<1>),
      percentile(2, "trace.transact.p95",
                 {"95th percentile of a transaction's duration over the window, by tag",
                  R"(Only one in twenty of the transactions completed in the window took longer.
)"},
                 quantile<2>),
      percentile(3, "trace.transact.p99",
                 {"99th percentile of a transaction's duration over the window, by tag",
                  R"(Only one in a hundred of the transactions completed in the window took
longer.
)"},
                 quantile<3>),
      percentile(4, "trace.transact.p999",
                 {"99.9th percentile of a transaction's duration over the window, by tag",
                  R"(Only one in a thousand of the transactions completed in the window took
longer.
)"},
                 quantile<4>),
      tag_metric({1, 5}, "trace.transact.aborts", Transact, PM_SEM_COUNTER, kCount,
                 {"transactions aborted, by tag",
                  R"(How often a program gave a transaction up with pmtraceabort instead of ending
it, since the agent first heard of the tag or since the last reset. No other
metric counts these.
)"},
                 [](const TagValues& tag, double) { return tag.total.aborts; }),
  };
}

std::vector<Metric> observe_metrics(pmUnits units) {
  using enum TraceType;
  const auto over_window = [units](unsigned item, const char* name, Text text, auto read) {
    return tag_metric({2, item}, name, Observe, PM_SEM_INSTANT, units, text, read);
  };
  return {
      over_window(0, "trace.observe.ave",
                  {"mean observed value over the window, by tag",
                   R"(The sum of the values reported in the window, divided by their number. Here
and in all the metrics below values that are not finite are left out.
)"},
                  average),
      over_window(1, "trace.observe.min",
                  {"smallest value observed in the window, by tag",
                   R"(The smallest of the values reported in the window.
)"},
                  least),
      over_window(2, "trace.observe.max",
                  {"largest value observed in the window, by tag",
                   R"(The largest of the values reported in the window.
)"},
                  greatest),
      over_window(3, "trace.observe.p50",
                  {"median of the values observed in the window, by tag",
                   R"(Half of the values reported in the window are not above this. At most 2%
beside the truth, as are the other percentiles.
)"},
                  quantile<0>),
      over_window(4, "trace.observe.p90",
                  {"90th percentile of the values observed in the window, by tag",
                   R"(Nine of ten values reported in the window are not above this.
)"},
                  quantile<1>),
      over_window(5, "trace.observe.p95",
                  {"95th percentile of the values observed in the window, by tag",
                   R"(Only one in twenty of the values reported in the window is above this.
)"},
                  quantile<2>),
      over_window(6, "trace.observe.p99",
                  {"99th percentile of the values observed in the window, by tag",
                   R"(Only one in a hundred of the values reported in the window is above this.
)"},
                  quantile<3>),
      over_window(7, "trace.observe.p999",
                  {"99.9th percentile of the values observed in the window, by tag",
                   R"(Only one in a thousand of the values reported in the window is above this.
)"},
                  quantile<4>),
      tag_metric({2, 8}, "trace.observe.sum", Observe, PM_SEM_COUNTER, units,
                 {"sum of all observed values, by tag",
                  R"(All values of the observation added up, since the agent first heard of the
tag or since the last reset. With trace.observe.count it gives the mean over
any time. It only grows if no value is negative.
)"},
                 sum),
  };
}

}  // namespace

std::vector<Metric> window_metrics(const ValueUnits& units) {
  std::vector<Metric> metrics = transact_metrics();
  for (Metric& metric : observe_metrics(units.observation)) metrics.push_back(std::move(metric));
  return metrics;
}

}  // namespace pcp::trace::agent
