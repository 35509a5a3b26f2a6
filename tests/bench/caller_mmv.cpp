// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of a counter in a memory mapped value file, which PCP's MMV agent reads. PCP_TMP_DIR has
// to name a directory with a subdirectory mmv.

// The second header needs the first.
// clang-format off
#include <pcp/pmapi.h>
#include <pcp/mmv_stats.h>
// clang-format on

#include <cstdlib>

#include "bursts.hpp"

namespace {

void* start_counter() {
  mmv_registry_t* registry = mmv_stats_registry("bench", 1, MMV_FLAG_PROCESS);
  mmv_stats_add_metric(registry, "counter", 1, MMV_TYPE_U64, MMV_SEM_COUNTER,
                       MMV_UNITS(0, 0, 1, 0, 0, PM_COUNT_ONE), 0, "", "");
  void* mapping = mmv_stats_start(registry);
  if (mapping == nullptr) std::exit(1);  // the library has printed the reason
  return mapping;
}

void* const mapping = start_counter();

void mmv_increment(benchmark::State& state) {
  pmAtomValue* value = mmv_lookup_value_desc(mapping, "counter", nullptr);
  bench::bursts(state, [&] { mmv_inc(mapping, value); });
}
BENCHMARK(mmv_increment)->Apply(bench::in_bursts_of_threads);

void mmv_increment_by_name(benchmark::State& state) {
  bench::bursts(state, [] { mmv_stats_inc(mapping, "counter", ""); });
}
BENCHMARK(mmv_increment_by_name)->Apply(bench::in_bursts);

}  // namespace
