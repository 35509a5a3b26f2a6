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

// Two events for a span, with what ours has; its id is the cheapest one that there can be.
void lttng_span(benchmark::State& state) {
  std::uint64_t id = 0;
  bench::bursts(state, [&] {
    ++id;
    lttng_ust_tracepoint(pcp_trace_bench, span_begin, "bench.span", 1, id, id, 0, 2, 1, 0);
    lttng_ust_tracepoint(pcp_trace_bench, span_end, id, 0);
  });
  state.counters["enabled"] = lttng_ust_tracepoint_enabled(pcp_trace_bench, span_begin) &&
                              lttng_ust_tracepoint_enabled(pcp_trace_bench, span_end);
}
BENCHMARK(lttng_span)->Apply(bench::in_bursts);

// Says whether the session has enabled the event: otherwise nothing would be measured.
void lttng_event_enabled(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
  state.counters["enabled"] = lttng_ust_tracepoint_enabled(pcp_trace_bench, observation) ? 1 : 0;
}
BENCHMARK(lttng_event_enabled)->Iterations(1);

}  // namespace
