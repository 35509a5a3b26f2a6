// SPDX-License-Identifier: LGPL-2.1-or-later
// What an event of LTTng-UST costs, recorded by a session of its own.
#include "bursts.hpp"
#include "lttng_event.h"

namespace {

void lttng_event(benchmark::State& state) {
  double value = 0;
  bench::bursts(state, [&] {
    lttng_ust_tracepoint(pcp_trace_bench, observation, "bench.observation", value += 0.001);
  });
}
BENCHMARK(lttng_event)->Apply(bench::in_bursts_of_threads);

// Says whether the session has enabled the event: otherwise nothing would be measured.
void lttng_event_enabled(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
  state.counters["enabled"] = lttng_ust_tracepoint_enabled(pcp_trace_bench, observation) ? 1 : 0;
}
BENCHMARK(lttng_event_enabled)->Iterations(1);

}  // namespace
