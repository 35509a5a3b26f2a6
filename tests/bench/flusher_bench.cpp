// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of a record for the library's own thread: drained, added up and binned.
#include <array>
#include <cmath>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "process/flusher.hpp"
#include "tags/tag_registry.hpp"
#include "timing.hpp"

namespace {

using namespace pcp::trace;
using namespace pcp::trace::client;

// A program's records: latencies around a tenth of a millisecond, tags in random order.
class Workload {
 public:
  explicit Workload(int tag_count) {
    std::mt19937 random(1);
    std::lognormal_distribution<double> seconds(std::log(1e-4), 1.0);
    std::uniform_int_distribution<int> any_tag(0, tag_count - 1);
    for (Call& call : calls_)
      call = {intern_tag("workload tag " + std::to_string(any_tag(random))), seconds(random)};
  }

  struct Call {
    const Tag* tag;
    double value;
  };
  const Call& next() { return calls_[position_++ % calls_.size()]; }

 private:
  std::array<Call, 1 << 14> calls_;
  std::size_t position_ = 0;
};

// A thread that records into a queue while the flusher's thread waits: as in production, the
// records are in the cache of another processor.
class RecordingThread {
 public:
  static constexpr int kRecords = 2048;  // half of a queue: the flusher's wake-up mark

  RecordingThread(int tag_count, RecordKind kind) : workload_(tag_count), kind_(kind) {}
  ~RecordingThread() {
    ends_ = true;
    wanted_.release();
  }
  Recorder& record() {
    wanted_.release();
    done_.acquire();
    return recorder_;
  }

 private:
  void run() {
    for (wanted_.acquire(); !ends_; wanted_.acquire()) {
      for (int i = 0; i < kRecords; ++i) {
        const Workload::Call& call = workload_.next();
        counted_ += call.value;
        recorder_.record(call.tag, kind_ == RecordKind::Counter ? counted_ : call.value, kind_);
      }
      done_.release();
    }
  }

  Workload workload_;
  const RecordKind kind_;
  double counted_ = 0;  // a counter only grows
  SharedParts shared_;
  Doorbell doorbell_;
  Recorder recorder_{shared_, doorbell_, 2 * kRecords};
  std::binary_semaphore wanted_{0};
  std::binary_semaphore done_{0};
  bool ends_ = false;
  std::jthread thread_{[this] { run(); }};
};

void drain(benchmark::State& state, RecordKind kind) {
  constexpr int kDrainsPerFlush = 48;  // a million records a second, and ten flushes
  RecordingThread source(static_cast<int>(state.range(0)), kind);
  Pending pending;
  std::vector<double> samples;
  int takes = 0;
  Drain drain(pending);
  for (auto _ : state) {
    Recorder& recorder = source.record();
    const double before = bench::thread_cpu_ns();
    drain.drain(recorder, 1);
    const double spent = bench::thread_cpu_ns() - before;
    samples.push_back(spent / RecordingThread::kRecords);
    state.SetIterationTime(spent * 1e-9);
    if (++takes % kDrainsPerFlush == 0)
      while (!pending.empty()) pending.pop();
  }
  state.counters["ns"] = bench::median(samples);
}

void draining(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(bench::is_brief ? 1 : 2000);
  for (const int tags : {1, 100, 1000}) benchmark->Arg(tags);
}
BENCHMARK_CAPTURE(drain, observations, RecordKind::Observe)->Apply(draining);
BENCHMARK_CAPTURE(drain, transactions, RecordKind::Transact)->Apply(draining);
BENCHMARK_CAPTURE(drain, points, RecordKind::Point)->Apply(draining);
BENCHMARK_CAPTURE(drain, counters, RecordKind::Counter)->Apply(draining);
BENCHMARK_CAPTURE(drain, increments, RecordKind::Add)->Apply(draining);

void histogram_add(benchmark::State& state) {
  Workload workload(1);
  Histogram histogram;
  std::vector<double> samples;
  for (auto _ : state) {
    const double before = bench::thread_cpu_ns();
    for (int i = 0; i < RecordingThread::kRecords; ++i) histogram.add(workload.next().value);
    const double spent = bench::thread_cpu_ns() - before;
    samples.push_back(spent / RecordingThread::kRecords);
    state.SetIterationTime(spent * 1e-9);
  }
  benchmark::DoNotOptimize(histogram);
  state.counters["ns"] = bench::median(samples);
}
BENCHMARK(histogram_add)->UseManualTime()->Iterations(bench::is_brief ? 1 : 2000);

}  // namespace
