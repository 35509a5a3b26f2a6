// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of a call by handle, and of calls that only our library has.
#include <pcp/trace.h>

#include <vector>

#include "bursts.hpp"

namespace {

const pmtrace_handle tag = pmtrace_tag("bench.handle");

void point_by_handle(benchmark::State& state) {
  bench::bursts(state, [] { pmtrace_point(tag); });
}
BENCHMARK(point_by_handle)->Apply(bench::in_bursts_of_threads);

void observe_by_handle(benchmark::State& state) {
  double value = 0;
  bench::bursts(state, [&] { pmtrace_observe(tag, value += 0.001); });
}
BENCHMARK(observe_by_handle)->Apply(bench::in_bursts_of_threads);

void count_by_handle(benchmark::State& state) {
  double value = 0;
  bench::bursts(state, [&] { pmtrace_count(tag, value += 1); });
}
BENCHMARK(count_by_handle)->Apply(bench::in_bursts_of_threads);

void add_by_handle(benchmark::State& state) {
  double value = 0;
  bench::bursts(state, [&] { pmtrace_add(tag, value += 0.001); });
}
BENCHMARK(add_by_handle)->Apply(bench::in_bursts_of_threads);

void begin_end_by_handle(benchmark::State& state) {
  pmtrace_tx transaction;
  bench::bursts(state, [&] {
    pmtrace_begin(tag, &transaction);
    pmtrace_end(&transaction);
  });
}
BENCHMARK(begin_end_by_handle)->Apply(bench::in_bursts);

constexpr pmtrace_label kLabels[] = {{"route", "/cart"}, {"zone", "eu-central-1"}};

// Alternates with the bare tag for comparison: the machine's load changes between benchmarks, and
// then two rows of the same call differ by more than the bar.
void observe_labelled_by_handle(benchmark::State& state) {
  const pmtrace_handle labelled = pmtrace_tag_with("bench.handle", kLabels, 2);
  double value = 0;
  std::vector<double> bare;
  bench::measure(
      state, bench::kCallsInBurst, bench::pause, [&] { pmtrace_observe(labelled, value += 0.001); },
      [&] {
        bare.push_back(bench::cpu_ns_of_each(bench::kCallsInBurst,
                                             [&] { pmtrace_observe(tag, value += 0.001); }));
        bench::compute_for(bench::pause);
      });
  state.counters["bare_ns"] = bench::median(bare);
}
BENCHMARK(observe_labelled_by_handle)->Apply(bench::in_bursts);

// An existing tag with two labels.
void tag_with(benchmark::State& state) {
  bench::bursts(state,
                [] { benchmark::DoNotOptimize(pmtrace_tag_with("bench.handle", kLabels, 2)); });
}
BENCHMARK(tag_with)->Apply(bench::in_bursts);

// A label that the thread has added before.
void tag_add_labels(benchmark::State& state) {
  constexpr pmtrace_label kStatus{"status", "200"};
  bench::bursts(state, [&] { benchmark::DoNotOptimize(pmtrace_tag_add_labels(tag, &kStatus, 1)); });
}
BENCHMARK(tag_add_labels)->Apply(bench::in_bursts);

// Faster than the flusher: nearly all calls find their thread's queue full.
void observe_flat_out(benchmark::State& state) {
  constexpr int kCalls = 200'000;
  double value = 0;
  bench::measure(state, kCalls, std::chrono::nanoseconds(0),
                 [&] { pmtrace_observe(tag, value += 0.001); });
}
BENCHMARK(observe_flat_out)->UseManualTime()->Iterations(bench::burst_count);

void observe_flat_out_of_16_threads(benchmark::State& state) { observe_flat_out(state); }
BENCHMARK(observe_flat_out_of_16_threads)
    ->UseManualTime()
    ->Iterations(bench::is_brief ? 1 : 3)
    ->Threads(16);

constexpr int kCheapCalls = 1'000'000;

template <typename Call>
void while_switched_off(benchmark::State& state, Call call) {
  const int before = pmtracestate(PMTRACE_STATE_NOAGENT);
  bench::measure(state, kCheapCalls, std::chrono::nanoseconds(0), call);
  pmtracestate(before);
}

void observe_switched_off(benchmark::State& state) {
  while_switched_off(state, [] { pmtrace_observe(tag, 1); });
}
BENCHMARK(observe_switched_off)->Apply(bench::in_bursts);

void observe_by_name_switched_off(benchmark::State& state) {
  while_switched_off(state, [] { pmtraceobs("bench.off", 1); });
}
BENCHMARK(observe_by_name_switched_off)->Apply(bench::in_bursts);

void begin_end_switched_off(benchmark::State& state) {
  pmtrace_tx transaction;
  while_switched_off(state, [&] {
    pmtrace_begin(tag, &transaction);
    pmtrace_end(&transaction);
  });
}
BENCHMARK(begin_end_switched_off)->Apply(bench::in_bursts);

}  // namespace
