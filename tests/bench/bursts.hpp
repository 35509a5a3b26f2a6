// How the caller's cost is measured, for us and for every peer: bursts of calls with pauses in
// which whatever reads the events catches up, as in a program that has work of its own to do. What
// counts is the calling thread's processor time; each burst is one sample.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <benchmark/benchmark.h>

namespace bench {

constexpr int kCallsInBurst = 1000;

// Set: do everything once, and as shortly as possible.
inline const bool is_brief = std::getenv("BENCH_BRIEF") != nullptr;
inline const int burst_count = is_brief ? 1 : 31;
inline const std::chrono::milliseconds pause{is_brief ? 1 : 10};

inline double read_ns(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

inline void compute_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) benchmark::ClobberMemory();
}

// Gives the counter `ns`: nanoseconds of processor time a call, the median of all bursts, averaged
// over the threads. And `elapsed_ns`, for calls that wait.
template <typename Call>
void measure(benchmark::State& state, int calls, std::chrono::nanoseconds rest, Call call) {
  std::vector<double> samples;
  std::vector<double> elapsed_samples;
  for (auto _ : state) {
    compute_for(rest);
    const double began = read_ns(CLOCK_MONOTONIC);
    const double before = read_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < calls; ++i) {
      call();
      benchmark::ClobberMemory();
    }
    const double spent = read_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    samples.push_back(spent / calls);
    elapsed_samples.push_back((read_ns(CLOCK_MONOTONIC) - began) / calls);
    state.SetIterationTime(spent * 1e-9);
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

// How often to repeat.
inline void in_bursts(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(burst_count);
}
inline void in_bursts_of_threads(benchmark::internal::Benchmark* benchmark) {
  in_bursts(benchmark);
  for (int threads : {1, 2, 4}) benchmark->Threads(threads);
}

}  // namespace bench
