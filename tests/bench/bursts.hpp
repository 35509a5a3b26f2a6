// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the caller's cost, the same way for us and for every peer: bursts of calls, with pauses
// in which the reader of the events catches up, as in a program with work of its own. The measure
// is the calling thread's processor time; each burst is one sample.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "timing.hpp"

namespace bench {

constexpr int kCallsInBurst = 1000;

inline const int burst_count = is_brief ? 1 : 31;
inline const std::chrono::milliseconds pause{is_brief ? 1 : 10};

inline void compute_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) benchmark::ClobberMemory();
}

// Processor time of each call of a burst.
template <typename Call>
double cpu_ns_of_each(int calls, Call call) {
  const double before = thread_cpu_ns();
  for (int i = 0; i < calls; ++i) {
    call();
    benchmark::ClobberMemory();
  }
  return (thread_cpu_ns() - before) / calls;
}

// Sets the counters `ns` (processor time of a call) and `elapsed_ns` (for calls that wait): the
// median of all bursts, averaged over the threads, in nanoseconds. A rest and `prepare` come before
// each burst and are not measured.
template <typename Call, typename Prepare = void (*)()>
void measure(
    benchmark::State& state, int calls, std::chrono::nanoseconds rest, Call call,
    Prepare prepare = [] {}) {
  std::vector<double> samples;
  std::vector<double> elapsed_samples;
  for (auto _ : state) {
    compute_for(rest);
    prepare();
    const double began = read_ns(CLOCK_MONOTONIC);
    samples.push_back(cpu_ns_of_each(calls, call));
    elapsed_samples.push_back((read_ns(CLOCK_MONOTONIC) - began) / calls);
    state.SetIterationTime(samples.back() * calls * 1e-9);
  }
  const auto report = [&](const char* name, std::vector<double>& values) {
    state.counters[name] = benchmark::Counter(median(values), benchmark::Counter::kAvgThreads);
  };
  report("ns", samples);
  report("elapsed_ns", elapsed_samples);
}

template <typename Call>
void bursts(benchmark::State& state, Call call) {
  measure(state, kCallsInBurst, pause, call);
}

// Number of repetitions.
inline void in_bursts(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(burst_count);
}
inline void in_bursts_of_threads(benchmark::internal::Benchmark* benchmark) {
  in_bursts(benchmark);
  for (int threads : {1, 2, 4}) benchmark->Threads(threads);
}

}  // namespace bench
