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

}  // namespace
