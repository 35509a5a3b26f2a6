// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "exact": what the programs recorded equals what the agent counted.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pcp/trace.hpp"
#include "test_agent.hpp"

namespace pcp::trace {
namespace {

constexpr double kPatience = 60;

pmtrace_stats_t stats() {
  pmtrace_stats_t now;
  pmtrace_stats(&now, sizeof now);
  return now;
}

void in_threads(int n, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

struct Exactness : testing::Test {
  TestAgent agent;
};

// A queue of a few records: most calls find it full and take the slow way. Beside each thread
// others come and go; each takes over an ended one's recorder.
TEST_F(Exactness, HoldsForManyThreadsThatOutrunTheFlusherAndComeAndGo) {
  ::setenv("PCP_TRACE_QUEUE", "8", 1);
  constexpr int kThreads = 8;
  constexpr int kLives = 50;
  constexpr int kRounds = 400;
  constexpr std::uint64_t kAll = kThreads * kLives * kRounds;
  const auto live = [] {
    const Observation shared{"shared"};
    const Transaction transaction{"work"};
    for (int i = 1; i <= kRounds; ++i) {
      shared.record(i);
      pmtracepoint("point");
      auto running = transaction.begin();
      if (i % 4 == 0) running.abort();
    }
  };
  in_threads(kThreads, [live](int t) {
    const Observation own{("own " + std::to_string(t)).c_str()};
    for (int i = 0; i < kLives; ++i) {
      std::thread other(live);
      for (int j = 1; j <= kRounds; ++j) own.record(i * kRounds + j);
      other.join();
    }
  });
  ASSERT_EQ(pmtrace_flush(kPatience), 1);

  const Delta shared = agent.total(TraceType::Observe, "shared");
  EXPECT_EQ(shared.count, kAll);
  EXPECT_EQ(shared.sum, kThreads * kLives * (0.5 * kRounds * (kRounds + 1)));
  EXPECT_EQ(shared.min, 1);
  EXPECT_EQ(shared.max, kRounds);
  for (int t = 0; t < kThreads; ++t) {
    const Delta own = agent.total(TraceType::Observe, "own " + std::to_string(t));
    EXPECT_EQ(own.count, kAll / kThreads);
    EXPECT_EQ(own.last, kLives * kRounds);
  }
  EXPECT_EQ(agent.total(TraceType::Point, "point").count, kAll);
  const Total work = agent.total(TraceType::Transact, "work");
  EXPECT_EQ(work.count, kAll * 3 / 4);
  EXPECT_EQ(work.aborts, kAll / 4);
  EXPECT_GT(stats().merged, 0u);
  EXPECT_EQ(stats().recorded, kAll * 4);
  EXPECT_EQ(stats().acknowledged, stats().recorded);
  EXPECT_EQ(stats().uncertain, 0u);
}

// The statistics are consistent whenever they are read.
TEST_F(Exactness, NeverShowsMoreSettledThanRecorded) {
  ::setenv("PCP_TRACE_QUEUE", "2", 1);
  ::setenv("PCP_TRACE_FLUSH", "1", 1);
  std::atomic<bool> done{false};
  std::thread program([&] {
    for (int i = 0; i < 300'000; ++i) pmtracepoint("balanced");
    done = true;
  });
  while (!done) {
    const pmtrace_stats_t now = stats();
    ASSERT_LE(now.acknowledged, now.recorded);
    ASSERT_EQ(now.pending, now.recorded - now.acknowledged);
  }
  program.join();
}

TEST_F(Exactness, ASynchronousCallReturnsAfterTheAgentHasCounted) {
  pmtracestate(PMTRACE_STATE_SYNC);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(pmtracepoint("at once"), 0);
    EXPECT_EQ(agent.total(TraceType::Point, "at once").count, i);
  }
}

}  // namespace
}  // namespace pcp::trace
