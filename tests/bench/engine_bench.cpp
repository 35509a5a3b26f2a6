// SPDX-License-Identifier: LGPL-2.1-or-later
// The engine's work in CPU time of its thread: the calls of the ingest thread for each PDU, and the
// steps of rotations, fetches and a reset, which hold the agent's mutex. A step's longest time is
// the longest of all its repetitions, without preemption.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/heap.hpp"
#include "collector/engine/engine.hpp"
#include "timing.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

namespace {

using bench::is_brief;
using bench::thread_cpu_ns;

// Same values as in ingest/rotation.cpp and agent/fetcher.cpp.
constexpr std::size_t kTagsOfRotation = 16;
constexpr std::size_t kTagsOfFetch = 256;

constexpr TraceType kType = TraceType::Transact;

// A client's delta of one tag: 1,000 transactions of a few milliseconds.
struct SampleDelta {
  SampleDelta() {
    Histogram histogram;
    for (int i = 0; i < 1000; ++i) {
      const double seconds = 0.002 + 0.000'003 * i;
      delta.add(seconds);
      histogram.add(seconds);
    }
    histogram.pack(packed);
  }

  Delta delta;
  std::string packed;
};

// An engine with `count` tags, and a clock that advances by intervals.
struct Load {
  explicit Load(std::int64_t count) : engine(EngineOptions{}, {}, Instant{}) {
    free_without_delay();  // as the agent does
    for (std::int64_t i = 0; i < count; ++i) {
      tags.push_back(engine.tag(kType, "tag" + std::to_string(i)));
    }
  }

  void apply_one_value_each() {
    for (const TagIndex tag : tags) engine.apply_value(tag, 0.003, now);
  }

  void next_interval() { now += engine.options().period / engine.options().buckets; }

  // Fills all buckets of the window.
  void fill_window() {
    for (std::uint32_t i = 0; i < engine.options().buckets; ++i) {
      apply_one_value_each();
      next_interval();
      while (engine.rotate(now, kTagsOfRotation)) continue;
    }
  }

  Engine engine;
  std::vector<TagIndex> tags;
  Instant now{};
};

// Adds up the CPU time of steps and keeps the longest.
struct Steps {
  template <typename Step>
  auto time(Step step) {
    const double begin = thread_cpu_ns();
    auto result = step();
    const double took = thread_cpu_ns() - begin;
    total_ns += took;
    longest_ns = std::max(longest_ns, took);
    return result;
  }

  void report(benchmark::State& state, std::int64_t tags) const {
    state.SetIterationTime(total_ns / 1e9);
    longest_of_all_ns = std::max(longest_of_all_ns, longest_ns);
    state.counters["ns_per_tag"] = total_ns / static_cast<double>(tags);
    state.counters["longest_us"] = longest_of_all_ns / 1e3;
  }

  double total_ns = 0;
  double longest_ns = 0;
  static inline double longest_of_all_ns = 0;  // of one benchmark's iterations
};

void apply_value(benchmark::State& state) {
  Load load(1000);
  std::size_t next = 0;
  for (auto _ : state) {
    load.engine.apply_value(load.tags[next], 0.003, load.now);
    next = next + 1 == load.tags.size() ? 0 : next + 1;
  }
}

void apply_delta(benchmark::State& state) {
  Load load(1000);
  const SampleDelta sample;
  std::size_t next = 0;
  for (auto _ : state) {
    load.engine.apply(load.tags[next], sample.delta, sample.packed, {}, load.now);
    next = next + 1 == load.tags.size() ? 0 : next + 1;
  }
}

// An engine with a full window, shared by all benchmarks that leave it full: filling takes longer
// than the measurement.
Load& full_load(std::int64_t count) {
  static std::map<std::int64_t, Load> loads;
  const auto [load, is_new] = loads.try_emplace(count, count);
  if (is_new) load->second.fill_window();
  return load->second;
}

// Calls prepare(load), not measured, and measured(load, steps) in each round.
template <typename Prepare, typename Measured>
void in_steps(benchmark::State& state, Prepare prepare, Measured measured) {
  Load& load = full_load(state.range(0));
  Steps::longest_of_all_ns = 0;
  for (auto _ : state) {
    prepare(load);
    Steps steps;
    measured(load, steps);
    steps.report(state, state.range(0));
  }
}

void prepare_nothing(Load&) {}

void end_an_interval(Load& load) {
  load.apply_one_value_each();
  load.next_interval();
}

void rotate_all(Load& load, Steps& steps) {
  while (steps.time([&] { return load.engine.rotate(load.now, kTagsOfRotation); })) continue;
}

// The engine's part in a fetch of all tags.
void take_snapshot(Load& load, Steps& steps) {
  std::vector<TagValues> slice;
  slice.reserve(kTagsOfFetch);
  for (std::size_t from = 0; from < load.tags.size(); from += slice.size()) {
    slice.clear();
    steps.time([&] { return load.engine.snapshot(kType, from, kTagsOfFetch, load.now, slice); });
  }
}

void rotate(benchmark::State& state) { in_steps(state, end_an_interval, rotate_all); }

void snapshot(benchmark::State& state) { in_steps(state, prepare_nothing, take_snapshot); }

// A fetch that comes before the rotation.
void snapshot_that_rotates(benchmark::State& state) {
  in_steps(state, end_an_interval, take_snapshot);
}

// Registered for one iteration: nothing is left afterwards.
void reset(benchmark::State& state) {
  in_steps(state, prepare_nothing, [](Load& load, Steps& steps) {
    steps.time([&] {
      load.engine.reset(load.now);
      return true;
    });
    while (steps.time([&] { return load.engine.take_discarded(); }) != nullptr) continue;
  });
}

void with_so_many_tags(benchmark::internal::Benchmark* each) {
  each->UseManualTime()->Arg(1000);
  if (!is_brief) each->Arg(10'000)->Arg(100'000);
}

const int kRounds = is_brief ? 1 : 5;

const double kSeconds = is_brief ? 0.001 : 0.5;

BENCHMARK(apply_value)->MinTime(kSeconds);
BENCHMARK(apply_delta)->MinTime(kSeconds);
BENCHMARK(rotate)->Apply(with_so_many_tags)->Iterations(kRounds);
BENCHMARK(snapshot)->Apply(with_so_many_tags)->Iterations(kRounds);
BENCHMARK(snapshot_that_rotates)->Apply(with_so_many_tags)->Iterations(kRounds);
BENCHMARK(reset)->Apply(with_so_many_tags)->Iterations(1);

}  // namespace

}  // namespace pcp::trace::agent
