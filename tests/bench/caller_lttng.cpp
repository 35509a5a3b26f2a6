// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of an LTTng-UST event, recorded by its own session.
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

// Two events for a span, with the fields of ours; the id is the cheapest possible.
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

// Reports whether the session has enabled the event; otherwise the benchmark measures nothing.
void lttng_event_enabled(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
  state.counters["enabled"] = lttng_ust_tracepoint_enabled(pcp_trace_bench, observation) ? 1 : 0;
}
BENCHMARK(lttng_event_enabled)->Iterations(1);

}  // namespace
