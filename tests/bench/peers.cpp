// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of the peers' calls: an LTTng-UST event, recorded by its own session; a counter and a
// histogram of prometheus-cpp; a counter in a memory mapped value file, which PCP's MMV agent reads
// (PCP_TMP_DIR has to name a directory with a subdirectory mmv). And the floor for any design: the
// clocks, a bare queue, calls that are compiled out, an idle loop.
#define PMTRACE_DISABLE
#include <pcp/trace.h>
// The second header needs the first.
// clang-format off
#include <pcp/pmapi.h>
#include <pcp/mmv_stats.h>
// clang-format on

#include <concurrentqueue.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "bench.hpp"
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_event.h"

// The minimum for a library call that checks whether tracing is on.
extern "C" int bench_load_and_branch(const void* tag, double value);

namespace {

using namespace bench;

void add_lttng() {
  in_bursts("lttng_event", [value = 0.0]() mutable {
    lttng_ust_tracepoint(pcp_trace_bench, observation, "bench.observation", value += 0.001);
  })->Apply(of_threads);
  // Two events for a span, with the fields of ours; the id is the cheapest possible.
  in_bursts("lttng_span", [id = std::uint64_t{0}]() mutable {
    ++id;
    lttng_ust_tracepoint(pcp_trace_bench, span_begin, "bench.span", 1, id, id, 0, 2, 1, 0);
    lttng_ust_tracepoint(pcp_trace_bench, span_end, id, 0);
  });
  // Whether the session has enabled the events; otherwise these benchmarks measure nothing.
  benchmark::RegisterBenchmark("lttng_enabled", [](benchmark::State& state) {
    for (auto _ : state) benchmark::ClobberMemory();
    state.counters["enabled"] = lttng_ust_tracepoint_enabled(pcp_trace_bench, observation) &&
                                lttng_ust_tracepoint_enabled(pcp_trace_bench, span_begin) &&
                                lttng_ust_tracepoint_enabled(pcp_trace_bench, span_end);
  })->Iterations(1);
}

void add_prometheus() {
  static prometheus::Registry registry;
  static auto& counter = prometheus::BuildCounter().Name("bench_total").Register(registry).Add({});
  static auto& histogram =
      prometheus::BuildHistogram()
          .Name("bench_seconds")
          .Register(registry)
          .Add({}, prometheus::Histogram::BucketBoundaries{.005, .01, .025, .05, .075, .1, .25, .5,
                                                           .75, 1, 2.5, 5, 7.5, 10});
  in_bursts("prometheus_counter", [] { counter.Increment(); })->Apply(of_threads);
  in_bursts("prometheus_histogram", [value = 0.0]() mutable {
    histogram.Observe(value += 0.001);
  })->Apply(of_threads);
}

void add_mmv() {
  mmv_registry_t* registry = mmv_stats_registry("bench", 1, MMV_FLAG_PROCESS);
  mmv_stats_add_metric(registry, "counter", 1, MMV_TYPE_U64, MMV_SEM_COUNTER,
                       MMV_UNITS(0, 0, 1, 0, 0, PM_COUNT_ONE), 0, "", "");
  static void* const mapping = mmv_stats_start(registry);
  if (mapping == nullptr) std::exit(1);  // the library has printed the reason
  in_bursts("mmv_increment", [value = mmv_lookup_value_desc(mapping, "counter", nullptr)] {
    mmv_inc(mapping, value);
  })->Apply(of_threads);
  in_bursts("mmv_increment_by_name", [] { mmv_stats_inc(mapping, "counter", ""); });
}

void add_floor() {
  constexpr int kCalls = 100'000;
  constexpr int kNothings = 1'000'000;
  flat_out("clock_gettime_call", kCalls, [] {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    benchmark::DoNotOptimize(now);
  });
  flat_out("time_stamp_counter", kCalls, [] { benchmark::DoNotOptimize(now_ticks()); });
  flat_out("load_and_branch_call", kCalls,
           [] { benchmark::DoNotOptimize(bench_load_and_branch(nullptr, 1)); });
  flat_out("compiled_out", kNothings, [] { pmtraceobs("bench.off", 1); });
  flat_out("empty_loop", kNothings, [] {});
  row("bare_queue", [](benchmark::State& state) {
    struct Item {
      const void* tag;
      double value;
      std::uint64_t kind;
    };
    moodycamel::ConcurrentQueue<Item> queue;
    moodycamel::ProducerToken token(queue);
    measure(state, kCallsInBurst, between_bursts, [&] {
      queue.enqueue(token, Item{&queue, 1, 1});
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  add_lttng();
  add_prometheus();
  add_mmv();
  add_floor();
  return run(argc, argv);
}
