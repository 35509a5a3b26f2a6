// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of our own calls: by handle, switched off, and those that only our library has; the
// spread of single calls; and transactions (span_*) while a monitor captures their tag or another.
#include <pcp/trace.h>
#include <sys/resource.h>

#include <bit>
#include <cstdio>
#include <pcp/trace.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench.hpp"

// blocks.c
extern "C" {
void bench_c_handle(pmtrace_handle tag);
void bench_c_scope();
void bench_c_function();
}

namespace {

using namespace bench;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const pmtrace_handle tag = pmtrace_tag("bench.handle");
const pmtrace_handle asked = pmtrace_tag("bench.asked");  // by the monitor
const pmtrace_handle another = pmtrace_tag("bench.another");

// By handle ---------------------------------------------------------------------------------------

constexpr auto kBeginAndEnd = [] {
  pmtrace_tx transaction;
  pmtrace_begin(tag, &transaction);
  pmtrace_end(&transaction);
};

void add_by_handle() {
  in_bursts("point_by_handle", [] { pmtrace_point(tag); })->Apply(of_threads);
  in_bursts("observe_by_handle", [value = 0.0]() mutable {
    pmtrace_observe(tag, value += 0.001);
  })->Apply(of_threads);
  in_bursts("count_by_handle", [value = 0.0]() mutable {
    pmtrace_count(tag, value += 1);
  })->Apply(of_threads);
  in_bursts("add_by_handle", [value = 0.0]() mutable {
    pmtrace_add(tag, value += 0.001);
  })->Apply(of_threads);
  in_bursts("begin_end_by_handle", kBeginAndEnd);
  // Faster than the flusher: nearly all calls find their thread's queue full.
  constexpr auto kCall = [value = 0.0]() mutable { pmtrace_observe(tag, value += 0.001); };
  flat_out("observe_flat_out", 200'000, kCall);
  flat_out("observe_flat_out_of_16_threads", 200'000, kCall)
      ->Iterations(is_brief ? 1 : 3)
      ->Threads(16);
}

constexpr pmtrace_label kLabels[] = {{"route", "/cart"}, {"zone", "eu-central-1"}};

// Alternates with the bare tag for comparison: the machine's load changes between benchmarks, and
// then two rows of the same call differ by more than the bar.
void observe_labelled(benchmark::State& state) {
  const pmtrace_handle labelled = pmtrace_tag_with("bench.handle", kLabels, 2);
  double value = 0;
  std::vector<double> bare_samples;
  const auto bare = [&] { pmtrace_observe(tag, value += 0.001); };
  measure(
      state, kCallsInBurst, between_bursts, [&] { pmtrace_observe(labelled, value += 0.001); },
      [&] {
        bare_samples.push_back(cpu_ns_of_each(kCallsInBurst, bare));
        compute_for(between_bursts);
      });
  state.counters["bare_ns"] = median(bare_samples);
}

void add_labelled() {
  row("observe_labelled_by_handle", observe_labelled);
  in_bursts("tag_with",
            [] { benchmark::DoNotOptimize(pmtrace_tag_with("bench.handle", kLabels, 2)); });
  in_bursts("tag_add_labels", [] {
    constexpr pmtrace_label kStatus{"status", "200"};
    benchmark::DoNotOptimize(pmtrace_tag_add_labels(tag, &kStatus, 1));
  });
}

template <typename Call>
void add_switched_off(const char* name, Call call) {
  row(name, [call](benchmark::State& state) {
    const int before = pmtracestate(PMTRACE_STATE_NOAGENT);
    measure(state, 1'000'000, kNoPause, call);
    pmtracestate(before);
  });
}

// Blocks ------------------------------------------------------------------------------------------

void traced_function() { PMTRACE_FUNCTION(); }

void add_blocks() {
  static const pcp::trace::Transaction block{"bench.block"};
  in_bursts("c/handle", [] { bench_c_handle(tag); });
  in_bursts("c/PMTRACE_SCOPE", [] { bench_c_scope(); });
  in_bursts("c/PMTRACE_FUNCTION", [] { bench_c_function(); });
  in_bursts("c++/handle", [] { const auto running = block.begin(); });
  in_bursts("c++/PMTRACE_SCOPE", [] { PMTRACE_SCOPE("bench.scope"); });
  in_bursts("c++/PMTRACE_FUNCTION", [] { traced_function(); });
}

// Single calls ------------------------------------------------------------------------------------

double ns_per_tick() {
  const std::int64_t ticks = now_ticks();
  const double ns = read_ns(CLOCK_MONOTONIC);
  compute_for(50ms);
  const double passed_ns = read_ns(CLOCK_MONOTONIC) - ns;
  return passed_ns / static_cast<double>(now_ticks() - ticks);
}

long preemptions() {
  rusage usage;
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// Each call of every burst is timed by itself. Bursts in which the thread was preempted do not
// count.
void single_calls(benchmark::State& state) {
  constexpr int kCalls = 2000;
  constexpr std::size_t kPowers = 16;  // a column for each power of two of nanoseconds
  const pmtrace_handle single = pmtrace_tag("bench.spread");
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> burst(kCalls);
  for (auto _ : state) {
    compute_for(between_bursts);
    const long before = preemptions();
    for (std::int64_t& ticks : burst) {
      const std::int64_t began = now_ticks();
      pmtrace_observe(single, 1);
      ticks = now_ticks() - began;
    }
    if (preemptions() == before || all.empty()) all.insert(all.end(), burst.begin(), burst.end());
  }
  std::sort(all.begin(), all.end());
  const double scale = ns_per_tick();
  for (const auto& [name, share] :
       {std::pair{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1.0}}) {
    const double at = share * static_cast<double>(all.size() - 1);
    state.counters[name] = scale * static_cast<double>(all[static_cast<std::size_t>(at)]);
  }
  state.counters["bursts"] = static_cast<double>(all.size() / kCalls);
  std::vector<int> columns(kPowers + 1);
  for (const std::int64_t ticks : all) {
    const auto ns = static_cast<std::uint64_t>(scale * static_cast<double>(ticks));
    ++columns[std::min(static_cast<std::size_t>(std::bit_width(ns)), kPowers)];
  }
  for (std::size_t power = 0; power < columns.size(); ++power)
    state.counters["below_" + std::to_string(1u << power)] = columns[power];
}

// Spans -------------------------------------------------------------------------------------------

void wait_until_captured() {
  const auto deadline = Clock::now() + 60s;
  for (bool is_captured = false; !is_captured;) {
    pmtrace_tx transaction;
    pmtrace_begin(asked, &transaction);
    is_captured = pmtrace_is_captured(&transaction) == 1;
    pmtrace_abort(&transaction);
    if (Clock::now() > deadline) {
      std::fputs("nothing is captured\n", stderr);
      std::exit(1);
    }
    std::this_thread::sleep_for(1ms);
  }
}

// A transaction with others, and some work, inside it.
template <typename Work>
void tree(int children, Work work) {
  pmtrace_tx top;
  pmtrace_begin(asked, &top);
  for (int i = 0; i < children; ++i) {
    pmtrace_tx child;
    pmtrace_begin(another, &child);
    pmtrace_end(&child);
  }
  work();
  pmtrace_end(&top);
}

// With a longer rest the flusher sleeps, which it does not in the other benchmarks: the wake-up is
// not part of the measure.
void add_span(const char* name, pmtrace_handle of, bool awaits_capture,
              std::chrono::milliseconds rest) {
  row(name, [=](benchmark::State& state) {
    if (awaits_capture) wait_until_captured();
    pmtrace_tx transaction;
    const auto call = [&] {
      pmtrace_begin(of, &transaction);
      pmtrace_end(&transaction);
    };
    measure(state, kCallsInBurst, rest, call, [] {
      pmtrace_point(another);
      compute_for(1ms);
    });
  });
}

// A tree that is faster than a filter with slower= wants. A call is one transaction of it.
void fast_tree(benchmark::State& state) {
  wait_until_captured();
  const auto children = static_cast<int>(state.range(0));
  measure(state, kCallsInBurst, between_bursts, [children] { tree(children, [] {}); });
  state.counters["ns"] = state.counters["ns"] / (children + 1);
}

// A request with headers, of a tag that nobody asks for: another process may want its trace.
void came_in(benchmark::State& state) {
  if (state.range(0) == 1) wait_until_captured();
  std::vector<std::string> headers(1'024);
  for (std::size_t i = 0; i < headers.size(); ++i) {
    headers[i].resize(PMTRACE_CONTEXT_SIZE);
    std::snprintf(headers[i].data(), headers[i].size(), "00-%016zx%016zx-00f067aa0ba902b7-01",
                  i + 1, i + 1);
  }
  measure(state, kCallsInBurst, 100ms, [&headers, next = std::size_t{0}]() mutable {
    pmtrace_tx request;
    pmtrace_begin_from(another, &request, headers[++next % headers.size()].c_str(), nullptr);
    pmtrace_end(&request);
  });
}

// One tree of ten that takes 2 ms, and fast ones for 8 ms, again and again.
void slow_among_fast(benchmark::State& state) {
  wait_until_captured();
  std::uint64_t fast = 0;
  const auto began = Clock::now();
  for (auto _ : state) {
    tree(9, [] { compute_for(2ms); });
    const auto end = Clock::now() + 8ms;
    for (; Clock::now() < end; ++fast) tree(9, [] {});
  }
  const std::chrono::duration<double> took = Clock::now() - began;
  state.counters["slow_spans"] = 10.0 * static_cast<double>(state.iterations());
  state.counters["fast_a_second"] = 10.0 * static_cast<double>(fast) / took.count();
}

}  // namespace

int main(int argc, char** argv) {
  add_by_handle();
  add_labelled();
  add_blocks();
  add_switched_off("observe_switched_off", [] { pmtrace_observe(tag, 1); });
  add_switched_off("observe_by_name_switched_off", [] { pmtraceobs("bench.off", 1); });
  add_switched_off("begin_end_switched_off", kBeginAndEnd);
  benchmark::RegisterBenchmark("single_calls", single_calls)->Iterations(is_brief ? 1 : 100);
  add_span("span_plain", another, false, between_bursts);  // the baseline: nobody captures
  add_span("span_beside_captured", another, true, between_bursts);
  // 10,000 spans a second, below every limit.
  add_span("span_of_captured", asked, true, is_brief ? 1ms : 100ms);
  row("span_fast_tree", fast_tree)->Arg(0)->Arg(2)->Arg(8);
  row("span_came_in", came_in)->Arg(0)->Arg(1);
  benchmark::RegisterBenchmark("span_slow_among_fast", slow_among_fast)
      ->Iterations(is_brief ? 10 : 300);
  return run(argc, argv);
}
