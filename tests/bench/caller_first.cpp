// SPDX-License-Identifier: LGPL-2.1-or-later
// The cost of a process's first call: eight threads begin their first transaction by handle at
// once. Prints the longest of the eight, in nanoseconds of elapsed time. With the word "thread"
// they make one thread between them instead, with "nothing" they do nothing: what the machine
// itself takes.
#include <algorithm>
#include <array>
#include <barrier>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "pcp/trace.h"
#include "timing.hpp"

int main(int count, char** words) {
  const std::string_view peer = count > 1 ? words[1] : "";
  std::once_flag made;
  const auto call = [&](pmtrace_handle tag, pmtrace_tx* transaction) {
    if (peer.empty()) pmtrace_begin(tag, transaction);
    if (peer == "thread") std::call_once(made, [] { std::thread([] {}).detach(); });
  };
  constexpr int kThreads = 8;
  const pmtrace_handle tag = pmtrace_tag("bench.first");
  std::barrier all(kThreads);
  std::array<double, kThreads> took{};
  std::vector<std::thread> threads;
  for (double& own : took)
    threads.emplace_back([&] {
      pmtrace_tx transaction;
      all.arrive_and_wait();
      const double began = bench::read_ns(CLOCK_MONOTONIC);
      call(tag, &transaction);
      own = bench::read_ns(CLOCK_MONOTONIC) - began;
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%.0f\n", *std::max_element(took.begin(), took.end()));
  return 0;
}
