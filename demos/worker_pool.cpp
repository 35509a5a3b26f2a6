// SPDX-License-Identifier: LGPL-2.1-or-later
// A pretend shop: workers serve requests, with all kinds of tracing.
//
//   worker_pool SECONDS
//
// A request usually takes a millisecond or two. One checkout in forty meets a slow bank: the
// maximum and the 99th percentile show that, the average hardly.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <pcp/trace.hpp>
#include <random>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// Each tag is looked up once; a call then costs a few nanoseconds.
pcp::trace::Transaction search{"search"};
pcp::trace::Transaction checkout{"checkout"};
pcp::trace::Point row_read{"row-read"};
pcp::trace::Point bank_slow{"bank-slow"};
pcp::trace::Observation basket_euro{"basket-euro"};
pcp::trace::Counter bytes_sent{"bytes-sent"};

constexpr int kWorkers = 4;
constexpr int kRowsPerSearch = 500;

std::atomic<std::uint64_t> total_bytes{0};

class Worker {
 public:
  explicit Worker(unsigned seed) : random_(seed) {}

  // Serves requests until `end`. Gives their number.
  std::uint64_t work(Clock::time_point end) {
    std::uint64_t served = 0;
    for (; Clock::now() < end; ++served) {
      if (one_in(5)) {
        serve_checkout();
      } else {
        serve_search();
      }
      total_bytes += 2000;
    }
    return served;
  }

 private:
  void serve_search() {
    auto scope = search.begin();
    for (int row = 0; row < kRowsPerSearch; ++row) row_read.hit();
    wait(microseconds(800), microseconds(2500));
  }

  void serve_checkout() {
    auto scope = checkout.begin();
    basket_euro.record(std::gamma_distribution<>(2.0, 20.0)(random_));
    if (one_in(40)) {
      bank_slow.hit();
      wait(microseconds(90'000), microseconds(140'000));
    } else {
      wait(microseconds(2000), microseconds(5000));
    }
    if (one_in(10)) scope.abort();  // the card was refused
  }

  bool one_in(int n) { return std::uniform_int_distribution<>(1, n)(random_) == 1; }

  void wait(microseconds shortest, microseconds longest) {
    std::uniform_int_distribution<microseconds::rep> span(shortest.count(), longest.count());
    std::this_thread::sleep_for(microseconds(span(random_)));
  }

  std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc == 2 ? std::atof(argv[1]) : 0;
  if (seconds <= 0) {
    std::cerr << "Usage: worker_pool SECONDS\n";
    return 2;
  }
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));

  std::atomic<std::uint64_t> served{0};
  {
    std::vector<std::jthread> pool;
    for (unsigned seed = 1; seed <= kWorkers; ++seed)
      pool.emplace_back([seed, end, &served] { served += Worker(seed).work(end); });
    // Only one thread records the total: from several it could seem to go backwards.
    for (; Clock::now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(50)))
      bytes_sent.record(static_cast<double>(total_bytes));
  }
  std::cout << "served " << served << " requests\n";
}
