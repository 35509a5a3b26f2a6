// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of compiled-out calls: the same loop with and without them.
#define PMTRACE_DISABLE
#include <pcp/trace.h>

#include "bursts.hpp"

namespace {

constexpr int kCalls = 1'000'000;

void compiled_out(benchmark::State& state) {
  bench::measure(state, kCalls, std::chrono::nanoseconds(0), [] { pmtraceobs("bench.off", 1); });
}
BENCHMARK(compiled_out)->Apply(bench::in_bursts);

void empty_loop(benchmark::State& state) {
  bench::measure(state, kCalls, std::chrono::nanoseconds(0), [] {});
}
BENCHMARK(empty_loop)->Apply(bench::in_bursts);

}  // namespace
