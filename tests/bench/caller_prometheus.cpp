// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of counting and observing with prometheus-cpp.
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "bursts.hpp"

namespace {

prometheus::Registry registry;

prometheus::Counter& counter =
    prometheus::BuildCounter().Name("bench_total").Register(registry).Add({});

prometheus::Histogram& histogram =
    prometheus::BuildHistogram()
        .Name("bench_seconds")
        .Register(registry)
        .Add({}, prometheus::Histogram::BucketBoundaries{.005, .01, .025, .05, .075, .1, .25, .5,
                                                         .75, 1, 2.5, 5, 7.5, 10});

void prometheus_counter(benchmark::State& state) {
  bench::bursts(state, [] { counter.Increment(); });
}
BENCHMARK(prometheus_counter)->Apply(bench::in_bursts_of_threads);

void prometheus_histogram(benchmark::State& state) {
  double value = 0;
  bench::bursts(state, [&] { histogram.Observe(value += 0.001); });
}
BENCHMARK(prometheus_histogram)->Apply(bench::in_bursts_of_threads);

}  // namespace
