// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of a call by name. Both libraries have this API: the program is built once and runs with
// each.
#include <pcp/trace.h>

#include "bench.hpp"

int main(int argc, char** argv) {
  using namespace bench;
  // Has to be set before the library connects.
  pmtracestate(std::getenv("BENCH_ASYNC") ? PMTRACE_STATE_ASYNC : 0);
  in_bursts("point_by_name", [] { pmtracepoint("bench.point"); })->Apply(of_threads);
  in_bursts("observe_by_name", [value = 0.0]() mutable {
    pmtraceobs("bench.observation", value += 0.001);
  })->Apply(of_threads);
  in_bursts("count_by_name", [value = 0.0]() mutable {
    pmtracecounter("bench.counter", value += 1);
  })->Apply(of_threads);
  in_bursts("begin_end_by_name", [] {
    pmtracebegin("bench.transaction");
    pmtraceend("bench.transaction");
  });
  // Our queue is full, or the socket of stock's asynchronous mode.
  flat_out("observe_by_name_flat_out", 10 * kCallsInBurst,
           [value = 0.0]() mutable { pmtraceobs("bench.flat.out", value += 0.001); });
  return run(argc, argv);
}
