// SPDX-License-Identifier: LGPL-2.1-or-later
// The engine's work in CPU time of its thread: the calls of the ingest thread for each PDU, and the
// steps of rotations, fetches and a reset, which hold the agent's mutex. A step's longest time is
// the longest of all its repetitions, without preemption.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/heap.hpp"
#include "bench.hpp"
#include "collector/engine/engine.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

namespace {

using bench::is_brief;

// Same values as in ingest/rotation.cpp and agent/fetcher.cpp.
constexpr std::size_t kTagsOfRotation = 16;
constexpr std::size_t kTagsOfFetch = 256;

constexpr TraceType kType = TraceType::Transact;

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
    const double begin = bench::thread_cpu_ns();
    auto result = step();
    const double took = bench::thread_cpu_ns() - begin;
    total_ns += took;
    longest_ns = std::max(longest_ns, took);
    return result;
  }

  double total_ns = 0;
  double longest_ns = 0;
};

// Calls apply(load, tag) for one tag after the other.
template <typename Apply>
void apply_to_each(benchmark::State& state, Apply apply) {
  Load load(1000);
  std::size_t next = 0;
  for (auto _ : state) {
    apply(load, load.tags[next]);
    next = next + 1 == load.tags.size() ? 0 : next + 1;
  }
}

void apply_value(benchmark::State& state) {
  apply_to_each(state,
                [](Load& load, TagIndex tag) { load.engine.apply_value(tag, 0.003, load.now); });
}

// A client's delta of one tag: 1,000 transactions of a few milliseconds.
void apply_delta(benchmark::State& state) {
  Delta delta;
  Histogram histogram;
  for (int i = 0; i < 1000; ++i) {
    const double seconds = 0.002 + 0.000'003 * i;
    delta.add(seconds);
    histogram.add(seconds);
  }
  std::string packed;
  histogram.pack(packed);
  apply_to_each(state, [&](Load& load, TagIndex tag) {
    load.engine.apply(tag, delta, packed, {}, load.now);
  });
}

// An engine with a full window, shared by all benchmarks that leave it full: filling takes longer
// than the measurement.
Load& full_load(std::int64_t count) {
  static std::map<std::int64_t, Load> loads;
  const auto [load, is_new] = loads.try_emplace(count, count);
  if (is_new) load->second.fill_window();
  return load->second;
}

void prepare_nothing(Load&) {}

void end_an_interval(Load& load) {
  load.apply_one_value_each();
  load.next_interval();
}

void rotate(Load& load, Steps& steps) {
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

// Leaves nothing.
void reset(Load& load, Steps& steps) {
  steps.time([&] {
    load.engine.reset(load.now);
    return true;
  });
  while (steps.time([&] { return load.engine.take_discarded(); }) != nullptr) continue;
}

// Calls prepare(load), not measured, and measured(load, steps) in each round.
void in_steps(const char* name, int rounds, void (*prepare)(Load&),
              void (*measured)(Load&, Steps&)) {
  auto* const row = bench::row(name, [=](benchmark::State& state) {
    Load& load = full_load(state.range(0));
    double longest_ns = 0;
    for (auto _ : state) {
      prepare(load);
      Steps steps;
      measured(load, steps);
      state.SetIterationTime(steps.total_ns / 1e9);
      longest_ns = std::max(longest_ns, steps.longest_ns);
      state.counters["ns_per_tag"] = steps.total_ns / static_cast<double>(state.range(0));
      state.counters["longest_us"] = longest_ns / 1e3;
    }
  });
  row->Arg(1000)->Iterations(is_brief ? 1 : rounds);
  if (!is_brief) row->Arg(10'000)->Arg(100'000);
}

}  // namespace

}  // namespace pcp::trace::agent

int main(int argc, char** argv) {
  using namespace pcp::trace::agent;
  const double seconds = is_brief ? 0.001 : 0.5;
  benchmark::RegisterBenchmark("apply_value", apply_value)->MinTime(seconds);
  benchmark::RegisterBenchmark("apply_delta", apply_delta)->MinTime(seconds);
  in_steps("rotate", 5, end_an_interval, rotate);
  in_steps("snapshot", 5, prepare_nothing, take_snapshot);
  // A fetch that comes before the rotation.
  in_steps("snapshot_that_rotates", 5, end_an_interval, take_snapshot);
  in_steps("reset", 1, prepare_nothing, reset);
  return bench::run(argc, argv);
}
