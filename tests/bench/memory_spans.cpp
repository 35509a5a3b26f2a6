// SPDX-License-Identifier: LGPL-2.1-or-later
// 1,000 threads with one transaction inside another every 20 ms each, for a few seconds: 100,000 a
// second, more than a capture's limit. Prints the bytes that tracing has added to the process, and
// the number of captured transactions.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "anonymous_bytes.hpp"
#include "pcp/trace.h"

namespace {

constexpr int kThreads = 1000;
constexpr std::chrono::milliseconds kRest{20};

std::atomic<std::uint64_t> captured{0};

void trace(pmtrace_handle whole, pmtrace_handle part) {
  pmtrace_tx outer;
  pmtrace_tx inner;
  pmtrace_begin(whole, &outer);
  pmtrace_begin(part, &inner);
  if (pmtrace_is_captured(&inner) == 1) captured += 2;
  pmtrace_end(&inner);
  pmtrace_end(&outer);
}

}  // namespace

int main() {
  const int rounds = std::getenv("BENCH_BRIEF") != nullptr ? 5 : 150;
  std::barrier all(kThreads + 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      all.arrive_and_wait();  // all stacks exist now
      all.arrive_and_wait();
      const pmtrace_handle whole = pmtrace_tag("bench.asked");
      const pmtrace_handle part = pmtrace_tag("bench.part");
      for (int round = 0; round < rounds; ++round) {
        trace(whole, part);
        std::this_thread::sleep_for(kRest);
      }
      all.arrive_and_wait();
      all.arrive_and_wait();
    });
  all.arrive_and_wait();
  const std::uint64_t before = bench::anonymous_bytes();
  all.arrive_and_wait();
  all.arrive_and_wait();
  const std::uint64_t after = bench::anonymous_bytes();
  std::printf("%llu %llu\n", static_cast<unsigned long long>(after - before),
              static_cast<unsigned long long>(captured.load()));
  all.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  return 0;
}
