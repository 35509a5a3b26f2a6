// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of a transaction while a monitor captures spans: of its tag, or of another one.
#include <pcp/trace.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bursts.hpp"

namespace {

using Clock = std::chrono::steady_clock;

const pmtrace_handle asked = pmtrace_tag("bench.asked");
const pmtrace_handle another = pmtrace_tag("bench.another");

// 10,000 spans a second, below every limit. After this rest the flusher sleeps, which it does not
// in the other benchmarks: wake_flusher() pays for the wake-up.
const std::chrono::milliseconds kRest{bench::is_brief ? 1 : 100};
void wake_flusher() {
  pmtrace_point(another);
  bench::compute_for(std::chrono::milliseconds(1));
}

void wait_until_captured() {
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  for (bool is_captured = false; !is_captured;) {
    pmtrace_tx transaction;
    pmtrace_begin(asked, &transaction);
    is_captured = pmtrace_is_captured(&transaction) == 1;
    pmtrace_abort(&transaction);
    if (Clock::now() > deadline) {
      std::fputs("nothing is captured\n", stderr);
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void begin_and_end(benchmark::State& state, pmtrace_handle tag, std::chrono::nanoseconds rest) {
  pmtrace_tx transaction;
  const auto call = [&] {
    pmtrace_begin(tag, &transaction);
    pmtrace_end(&transaction);
  };
  bench::measure(state, bench::kCallsInBurst, rest, call, wake_flusher);
}

// The baseline of the next two: nobody captures.
void begin_end(benchmark::State& state) { begin_and_end(state, another, bench::pause); }
BENCHMARK(begin_end)->Apply(bench::in_bursts);

void begin_end_beside_captured(benchmark::State& state) {
  wait_until_captured();
  begin_and_end(state, another, bench::pause);
}
BENCHMARK(begin_end_beside_captured)->Apply(bench::in_bursts);

void begin_end_of_captured(benchmark::State& state) {
  wait_until_captured();
  begin_and_end(state, asked, kRest);
}
BENCHMARK(begin_end_of_captured)->Apply(bench::in_bursts);

// Trees that are faster than a filter with slower= wants. A call is one transaction of a tree.
void fast_tree(benchmark::State& state) {
  wait_until_captured();
  const auto children = static_cast<int>(state.range(0));
  const auto tree = [children] {
    pmtrace_tx top;
    pmtrace_begin(asked, &top);
    for (int i = 0; i < children; ++i) {
      pmtrace_tx child;
      pmtrace_begin(another, &child);
      pmtrace_end(&child);
    }
    pmtrace_end(&top);
  };
  bench::bursts(state, tree);
  state.counters["ns"] = state.counters["ns"] / (children + 1);
}
BENCHMARK(fast_tree)->Apply(bench::in_bursts)->Arg(0)->Arg(2)->Arg(8);

// One tree of ten that takes 2 ms, and fast ones for 8 ms, again and again.
void slow_among_fast(benchmark::State& state) {
  wait_until_captured();
  const auto tree = [](std::chrono::nanoseconds time) {
    pmtrace_tx top;
    pmtrace_begin(asked, &top);
    for (int i = 0; i < 9; ++i) {
      pmtrace_tx child;
      pmtrace_begin(another, &child);
      pmtrace_end(&child);
    }
    if (time.count() > 0) bench::compute_for(time);
    pmtrace_end(&top);
  };
  std::uint64_t fast = 0;
  const auto began = Clock::now();
  for (auto _ : state) {
    tree(std::chrono::milliseconds(2));
    const auto end = Clock::now() + std::chrono::milliseconds(8);
    for (; Clock::now() < end; ++fast) tree({});
  }
  const std::chrono::duration<double> took = Clock::now() - began;
  state.counters["slow_spans"] = 10.0 * static_cast<double>(state.iterations());
  state.counters["fast_a_second"] = 10.0 * static_cast<double>(fast) / took.count();
}
BENCHMARK(slow_among_fast)->Iterations(bench::is_brief ? 10 : 300);

}  // namespace
