// SPDX-License-Identifier: LGPL-2.1-or-later
// The spread of single calls: each call of every burst is timed by itself. Bursts in which the
// thread was preempted do not count.
#include <pcp/trace.h>
#include <sys/resource.h>

#include <bit>
#include <string>

#include "bursts.hpp"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace {

constexpr int kCalls = 2000;
constexpr int kBursts = 100;
constexpr int kPowers = 16;  // the histogram has a column for each power of two of nanoseconds

std::int64_t now_ticks() {
#ifdef __x86_64__
  return static_cast<std::int64_t>(__rdtsc());
#else
  return static_cast<std::int64_t>(bench::read_ns(CLOCK_MONOTONIC));
#endif
}

double ns_per_tick() {
  const std::int64_t ticks = now_ticks();
  const double ns = bench::read_ns(CLOCK_MONOTONIC);
  bench::compute_for(std::chrono::milliseconds(50));
  const double passed_ns = bench::read_ns(CLOCK_MONOTONIC) - ns;
  return passed_ns / static_cast<double>(now_ticks() - ticks);
}

long preemptions() {
  rusage usage;
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

void single_calls(benchmark::State& state) {
  const pmtrace_handle tag = pmtrace_tag("bench.spread");
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> burst(kCalls);
  int undisturbed = 0;
  for (auto _ : state) {
    bench::compute_for(bench::pause);
    const long before = preemptions();
    for (std::int64_t& ticks : burst) {
      const std::int64_t began = now_ticks();
      pmtrace_observe(tag, 1);
      ticks = now_ticks() - began;
    }
    if (preemptions() != before && !all.empty()) continue;
    all.insert(all.end(), burst.begin(), burst.end());
    ++undisturbed;
  }
  std::sort(all.begin(), all.end());
  const double scale = ns_per_tick();
  const auto at = [&](double share) {
    return scale * static_cast<double>(
                       all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))]);
  };
  state.counters["p50"] = at(0.5);
  state.counters["p99"] = at(0.99);
  state.counters["p999"] = at(0.999);
  state.counters["max"] = at(1);
  state.counters["bursts"] = undisturbed;
  std::vector<int> columns(kPowers + 1);
  for (std::int64_t ticks : all) {
    const auto ns = static_cast<std::uint64_t>(scale * static_cast<double>(ticks));
    ++columns[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(ns)), kPowers)];
  }
  for (std::size_t power = 0; power < columns.size(); ++power)
    state.counters["below_" + std::to_string(1u << power)] = columns[power];
}
BENCHMARK(single_calls)->Iterations(bench::is_brief ? 1 : kBursts);

}  // namespace
