// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of a call by name. Both libraries have this API: the program is built once and runs with
// each.
#include <pcp/trace.h>

#include "bursts.hpp"

namespace {

void point_by_name(benchmark::State& state) {
  bench::bursts(state, [] { pmtracepoint("bench.point"); });
}
BENCHMARK(point_by_name)->Apply(bench::in_bursts_of_threads);

void observe_by_name(benchmark::State& state) {
  double value = 0;
  bench::bursts(state, [&] { pmtraceobs("bench.observation", value += 0.001); });
}
BENCHMARK(observe_by_name)->Apply(bench::in_bursts_of_threads);

void count_by_name(benchmark::State& state) {
  double value = 0;
  bench::bursts(state, [&] { pmtracecounter("bench.counter", value += 1); });
}
BENCHMARK(count_by_name)->Apply(bench::in_bursts_of_threads);

void begin_end_by_name(benchmark::State& state) {
  bench::bursts(state, [] {
    pmtracebegin("bench.transaction");
    pmtraceend("bench.transaction");
  });
}
BENCHMARK(begin_end_by_name)->Apply(bench::in_bursts);

// Without a pause: our queue is full, or the socket of stock's asynchronous mode.
void observe_by_name_flat_out(benchmark::State& state) {
  double value = 0;
  bench::measure(state, 10 * bench::kCallsInBurst, std::chrono::nanoseconds(0),
                 [&] { pmtraceobs("bench.flat.out", value += 0.001); });
}
BENCHMARK(observe_by_name_flat_out)->Apply(bench::in_bursts);

// PMTRACE_STATE_ASYNC has to be set before the library connects.
[[maybe_unused]] const int state_before =
    pmtracestate(std::getenv("BENCH_ASYNC") ? PMTRACE_STATE_ASYNC : 0);

}  // namespace
