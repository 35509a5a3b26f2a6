// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 4: the trace library's statistics about itself, from each connected process.
#include "metrics/metric_table.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

namespace {

using Counters = wire::ClientCounters;

template <std::uint64_t Counters::*Counter>
constexpr auto counter = [](const Counters& counters) { return counters.*Counter; };

}  // namespace

std::vector<Metric> client_metrics() {
  // clang-format off
  return {
    {4, 0, "trace.client.recorded", kClientIndom, PM_SEM_COUNTER, kCount,
     counter<&Counters::recorded>,
     {"trace calls made by the process",
      R"(Calls of the trace library since the process started.
)"}},
    {4, 1, "trace.client.sent", kClientIndom, PM_SEM_COUNTER, kCount, counter<&Counters::sent>,
     {"trace calls whose numbers the process has sent",
      R"(Calls that are recorded but not yet sent wait in the process for its next flush.
)"}},
    {4, 2, "trace.client.merged", kClientIndom, PM_SEM_COUNTER, kCount, counter<&Counters::merged>,
     {"trace calls that found their queue full",
      R"(Calls that came faster than the library could collect them and were added up
on the spot: exact in all counts, sums and extrema, but see
trace.client.thinned.
)"}},
    {4, 3, "trace.client.thinned", kClientIndom, PM_SEM_COUNTER, kCount,
     counter<&Counters::thinned>,
     {"values that percentiles do not know about",
      R"(Merged values (trace.client.merged) for which the library had no room for more
than count, sum and extrema.
)"}},
    {4, 4, "trace.client.uncertain", kClientIndom, PM_SEM_COUNTER, kCount,
     counter<&Counters::uncertain>,
     {"trace calls that may or may not have been counted",
      R"(Calls sent to an agent that could not tell any more whether it had applied
them. They were not sent again: they count once or not at all.
)"}},
    {4, 5, "trace.client.reconnects", kClientIndom, PM_SEM_COUNTER, kCount,
     counter<&Counters::reconnects>,
     {"times that the process had to connect again",
      R"(Connections to an agent made after the first one was lost.
)"}},
  };
  // clang-format on
}

}  // namespace pcp::trace::agent
