// SPDX-License-Identifier: LGPL-2.1-or-later
// Programs that are measured from without, or as a whole:
//
//   workloads first [thread|nothing]  the cost of a process's first call: eight threads begin their
//       first transaction by handle at once. Prints the longest of the eight, in nanoseconds of
//       elapsed time. With "thread" they make one thread between them instead, with "nothing" they
//       do nothing: what the machine itself takes.
//   workloads burst  64 threads record far more than their queues hold, all at once, each with all
//       of a thousand tags. Prints the bytes that tracing has added to the process by the end of
//       the burst, and after the delivery.
//   workloads spans  1,000 threads with one transaction inside another every 20 ms each, for a few
//       seconds: 100,000 a second, more than a capture's limit. Prints the bytes that tracing has
//       added to the process, and the number of captured transactions.
//   workloads tags TAGS SECONDS  a transaction of each of TAGS tags, four times a second.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench.hpp"
#include "pcp/trace.h"

namespace {

using bench::is_brief;
using namespace std::chrono_literals;

// Gives the resident memory of this process that no file backs.
double anonymous_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    if (word != "Anonymous:") continue;
    double kib = 0;
    rollup >> kib;
    return kib * 1024;
  }
  std::exit(EXIT_FAILURE);
}

std::vector<pmtrace_handle> make_tags(std::size_t count, const char* format) {
  std::vector<pmtrace_handle> tags;
  char name[64];
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(name, sizeof name, format, static_cast<unsigned>(i));
    tags.push_back(pmtrace_tag(name));
  }
  return tags;
}

// Makes so many threads, looks at the memory, prepares, and has all threads do their work at once.
// Then it calls `look` with the bytes of memory before, while all threads still exist.
void in_threads(std::size_t count, const std::function<void()>& prepare,
                const std::function<void(std::size_t)>& work,
                const std::function<void(double)>& look) {
  std::barrier all(static_cast<std::ptrdiff_t>(count) + 1);
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < count; ++number)
    threads.emplace_back([&, number] {
      all.arrive_and_wait();  // all stacks exist now
      all.arrive_and_wait();
      work(number);
      all.arrive_and_wait();
      all.arrive_and_wait();
    });
  all.arrive_and_wait();
  const double before = anonymous_bytes();
  prepare();
  all.arrive_and_wait();
  all.arrive_and_wait();
  look(before);
  all.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
}

int first(std::string_view peer) {
  pmtrace_handle tag = nullptr;
  std::once_flag made;
  std::array<double, 8> took{};
  in_threads(
      took.size(), [&] { tag = pmtrace_tag("bench.first"); },
      [&](std::size_t thread) {
        pmtrace_tx transaction;
        const double began = bench::read_ns(CLOCK_MONOTONIC);
        if (peer.empty()) pmtrace_begin(tag, &transaction);
        if (peer == "thread") std::call_once(made, [] { std::thread([] {}).detach(); });
        took[thread] = bench::read_ns(CLOCK_MONOTONIC) - began;
      },
      [&](double) { std::printf("%.0f\n", *std::max_element(took.begin(), took.end())); });
  return EXIT_SUCCESS;
}

int burst() {
  const std::size_t calls = is_brief ? 5'000 : 50'000;
  std::mt19937 random(1);
  std::lognormal_distribution<double> seconds(std::log(1e-4), 1.0);
  std::vector<double> values(4096);
  for (double& value : values) value = seconds(random);
  std::vector<pmtrace_handle> tags;
  in_threads(
      64, [&] { tags = make_tags(1000, "tag number %u"); },
      [&](std::size_t thread) {
        for (std::size_t i = 0; i < calls; ++i)
          pmtrace_observe(tags[(i * 7 + thread) % tags.size()], values[i % values.size()]);
      },
      [](double before) {
        const double by_its_end = anonymous_bytes();
        if (pmtrace_flush(60) != 1) std::exit(EXIT_FAILURE);
        std::printf("%.0f %.0f\n", by_its_end - before, anonymous_bytes() - before);
      });
  return EXIT_SUCCESS;
}

int spans() {
  std::atomic<std::uint64_t> captured{0};
  in_threads(
      1000, [] {},
      [&captured](std::size_t) {
        const pmtrace_handle whole = pmtrace_tag("bench.asked");
        const pmtrace_handle part = pmtrace_tag("bench.part");
        for (int round = is_brief ? 5 : 150; round > 0; --round) {
          pmtrace_tx outer;
          pmtrace_tx inner;
          pmtrace_begin(whole, &outer);
          pmtrace_begin(part, &inner);
          if (pmtrace_is_captured(&inner) == 1) captured += 2;
          pmtrace_end(&inner);
          pmtrace_end(&outer);
          std::this_thread::sleep_for(20ms);
        }
      },
      [&captured](double before) {
        std::printf("%.0f %.0f\n", anonymous_bytes() - before, static_cast<double>(captured));
      });
  return EXIT_SUCCESS;
}

int tags(std::size_t count, double seconds) {
  const std::vector<pmtrace_handle> all = make_tags(count, "shop.basket.checkout.%08u");
  for (int rounds = static_cast<int>(4 * seconds); rounds > 0; --rounds) {
    for (const pmtrace_handle tag : all) {
      pmtrace_tx running;
      pmtrace_begin(tag, &running);
      pmtrace_end(&running);
    }
    std::this_thread::sleep_for(250ms);
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  if (kind == "first") return first(argc > 2 ? argv[2] : "");
  if (kind == "burst") return burst();
  if (kind == "spans") return spans();
  if (kind == "tags" && argc == 4)
    return tags(std::strtoul(argv[2], nullptr, 10), std::atof(argv[3]));
  return EXIT_FAILURE;
}
