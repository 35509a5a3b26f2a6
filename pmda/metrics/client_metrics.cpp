// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 4: what the trace library in each connected process says about its own work.
#include "metrics/metric_table.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

std::vector<Metric> client_metrics() {
  using Counters = wire::ClientCounters;
  const auto metric = [](unsigned item, const char* name, std::uint64_t Counters::*counter,
                         Text text) {
    return client_metric({4, item}, name, PM_SEM_COUNTER, kCount, text,
                         [counter](const Counters& counters) { return counters.*counter; });
  };
  return {
      metric(0, "trace.client.recorded", &Counters::recorded,
             {"trace calls made by the process",
              R"(Calls of the trace library since the process started.
)"}),
      metric(1, "trace.client.sent", &Counters::sent,
             {"trace calls whose numbers the process has sent",
              R"(What is recorded but not yet sent waits in the process for its next flush.
)"}),
      metric(2, "trace.client.merged", &Counters::merged,
             {"trace calls that found their queue full",
              R"(Calls that came faster than the library could collect them and were added up
on the spot: exact in all counts, sums and extrema, but see
trace.client.thinned.
)"}),
      metric(3, "trace.client.thinned", &Counters::thinned,
             {"values that percentiles do not know about",
              R"(Merged values (trace.client.merged) for which the library had no room for more
than count, sum and extrema.
)"}),
      metric(4, "trace.client.uncertain", &Counters::uncertain,
             {"trace calls that may or may not have been counted",
              R"(Calls sent to an agent that could not tell any more whether it had applied
them. They were not sent again: they count once or not at all.
)"}),
      metric(5, "trace.client.reconnects", &Counters::reconnects,
             {"times that the process had to connect again",
              R"(Connections to an agent made after the first one was lost.
)"}),
  };
}

}  // namespace pcp::trace::agent
