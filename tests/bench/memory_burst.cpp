// SPDX-License-Identifier: LGPL-2.1-or-later
// 64 threads record far more than their queues hold, all at once, each with all of a thousand tags.
// Prints the bytes that tracing has added to the process by the end of the burst, and after the
// delivery.
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "anonymous_bytes.hpp"
#include "pcp/trace.h"

namespace {

constexpr int kThreads = 64;
constexpr std::size_t kTags = 1000;

}  // namespace

int main() {
  const std::size_t calls = std::getenv("BENCH_BRIEF") != nullptr ? 5'000 : 50'000;
  std::mt19937 random(1);
  std::lognormal_distribution<double> seconds(std::log(1e-4), 1.0);
  std::vector<double> values(4096);
  for (double& value : values) value = seconds(random);
  std::vector<pmtrace_handle> tags(kTags);

  std::barrier all(kThreads + 1);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      all.arrive_and_wait();  // all stacks exist now
      all.arrive_and_wait();
      for (std::size_t i = 0; i < calls; ++i)
        pmtrace_observe(tags[(i * 7 + t) % kTags], values[i % values.size()]);
      all.arrive_and_wait();
      all.arrive_and_wait();
    });
  all.arrive_and_wait();
  const std::uint64_t before = bench::anonymous_bytes();
  for (std::size_t i = 0; i < kTags; ++i)
    tags[i] = pmtrace_tag(("tag number " + std::to_string(i)).c_str());
  all.arrive_and_wait();
  all.arrive_and_wait();
  const std::uint64_t by_its_end = bench::anonymous_bytes();
  if (pmtrace_flush(60) != 1) return 1;
  const std::uint64_t delivered = bench::anonymous_bytes();
  std::printf("%llu %llu\n", static_cast<unsigned long long>(by_its_end - before),
              static_cast<unsigned long long>(delivered - before));
  all.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  return 0;
}
