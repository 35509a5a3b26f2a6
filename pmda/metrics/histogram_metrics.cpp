// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 7: distributions that can be added and subtracted. They are outside of `trace`, because
// fetching all of `trace` should not include them.
#include "metrics/metric_table.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

namespace {

constexpr auto histogram_text = [](const HistogramText& histogram) {
  return histogram.text.c_str();
};

}  // namespace

std::vector<Metric> histogram_metrics() {
  // clang-format off
  return {
    {7, 0, "tracing.histogram.transact", kTransactIndom, PM_SEM_INSTANT, kNoUnits,
     histogram_text,
     {"distribution of a transaction's durations since some time, by tag",
      R"(The durations in seconds of all transactions that were completed since a time
which the value names, as a histogram in one line of text: for programs, which
add up those of several hosts or tags, and subtract an older one, exactly.
The agent keeps them from the first time on that somebody asks for this metric
or tracing.histogram.observe; see its option --histogram-memory. No value for a
tag for which there was no room: trace.agent.histograms.left_out counts those.

"1 <since> <coarseness> <count> <unbinned> <base64>": since is in nanoseconds
since 1970; the histogram has <count> values, and <unbinned> more are known by
their number only. The page protocol.md of the trace library has the rest.
)"}},
    {7, 1, "tracing.histogram.observe", kObserveIndom, PM_SEM_INSTANT, kNoUnits,
     histogram_text,
     {"distribution of all observed values since some time, by tag",
      R"(The values that programs have reported for each observation since a time which
the value names, in the form of tracing.histogram.transact.
)"}},
  };
  // clang-format on
}

}  // namespace pcp::trace::agent
