// SPDX-License-Identifier: LGPL-2.1-or-later
// The floor for any design of these parts: the clocks, a bare queue, an idle loop.
#include <ctime>

#include <concurrentqueue.h>

#include "bursts.hpp"
#include "load_and_branch.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace {

constexpr int kCalls = 100'000;
constexpr std::chrono::nanoseconds kNoPause{0};

void clock_gettime_call(benchmark::State& state) {
  bench::measure(state, kCalls, kNoPause, [] {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    benchmark::DoNotOptimize(now);
  });
}
BENCHMARK(clock_gettime_call)->Apply(bench::in_bursts);

#ifdef __x86_64__
void time_stamp_counter(benchmark::State& state) {
  bench::measure(state, kCalls, kNoPause, [] { benchmark::DoNotOptimize(__rdtsc()); });
}
BENCHMARK(time_stamp_counter)->Apply(bench::in_bursts);
#endif

void load_and_branch_call(benchmark::State& state) {
  bench::measure(state, kCalls, kNoPause,
                 [] { benchmark::DoNotOptimize(bench_load_and_branch(nullptr, 1)); });
}
BENCHMARK(load_and_branch_call)->Apply(bench::in_bursts);

void empty_loop(benchmark::State& state) {
  bench::measure(state, kCalls, kNoPause, [] {});
}
BENCHMARK(empty_loop)->Apply(bench::in_bursts);

struct Item {
  const void* tag;
  double value;
  std::uint64_t kind;
};

void bare_queue(benchmark::State& state) {
  moodycamel::ConcurrentQueue<Item> queue;
  moodycamel::ProducerToken token(queue);
  bench::bursts(state, [&] { queue.enqueue(token, Item{&queue, 1, 1}); });
}
BENCHMARK(bare_queue)->Apply(bench::in_bursts);

}  // namespace
