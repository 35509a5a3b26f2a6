// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the caller's cost, the same way for us and for every peer: bursts of calls, with pauses
// in which the reader of the events catches up, as in a program with work of its own. The measure
// is the calling thread's processor time; each burst is one sample.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <benchmark/benchmark.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace bench {

// Set: do everything once, as briefly as possible.
inline const bool is_brief = std::getenv("BENCH_BRIEF") != nullptr;

constexpr int kCallsInBurst = 1000;
inline const int burst_count = is_brief ? 1 : 31;
inline const std::chrono::milliseconds between_bursts{is_brief ? 1 : 10};
constexpr std::chrono::nanoseconds kNoPause{0};

inline double read_ns(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double thread_cpu_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

// The time-stamp counter, or the next best clock.
inline std::int64_t now_ticks() {
#ifdef __x86_64__
  return static_cast<std::int64_t>(__rdtsc());
#else
  return static_cast<std::int64_t>(read_ns(CLOCK_MONOTONIC));
#endif
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

// Gives the thread's processor time of one piece of work.
template <typename Work>
double cpu_ns_of(Work work) {
  const double before = thread_cpu_ns();
  work();
  return thread_cpu_ns() - before;
}

// Processor time of each call of a burst.
template <typename Call>
double cpu_ns_of_each(int calls, Call& call) {
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

// Makes a row of the report. Each thread has its own copy of `measured`, and of the calls below,
// whose loops are made for their type: nothing in them is indirect.
template <typename Measured>
benchmark::internal::Benchmark* row(const char* name, Measured measured) {
  return benchmark::RegisterBenchmark(name, measured)->UseManualTime()->Iterations(burst_count);
}

template <typename Call>
benchmark::internal::Benchmark* in_bursts(const char* name, Call call) {
  return row(name, [call](benchmark::State& state) {
    measure(state, kCallsInBurst, between_bursts, call);
  });
}

// Without pauses.
template <typename Call>
benchmark::internal::Benchmark* flat_out(const char* name, int calls, Call call) {
  return row(name, [=](benchmark::State& state) { measure(state, calls, kNoPause, call); });
}

inline void of_threads(benchmark::internal::Benchmark* row) {
  for (const int threads : {1, 2, 4}) row->Threads(threads);
}

// Measures the rows that the command line wants.
inline int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench
