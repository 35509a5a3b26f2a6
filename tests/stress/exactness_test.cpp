// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "exact": what the programs recorded equals what the agent counted.
#include <atomic>
#include <cerrno>
#include <cmath>
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

TEST_F(Exactness, EveryKindOfCallArrives) {
  EXPECT_EQ(pmtracepoint("by name"), 0);
  EXPECT_EQ(pmtraceobs("by name", 2.5), 0);
  EXPECT_EQ(pmtracecounter("by name", 40), 0);
  EXPECT_EQ(pmtracebegin("by name"), 0);
  EXPECT_EQ(pmtraceend("by name"), 0);
  EXPECT_EQ(pmtracebegin("by name"), 0);
  EXPECT_EQ(pmtraceabort("by name"), 0);
  const pmtrace_handle tag = pmtrace_tag("by handle");
  pmtrace_tx tx;
  EXPECT_EQ(pmtrace_point(tag), 0);
  EXPECT_EQ(pmtrace_observe(tag, -1), 0);
  EXPECT_EQ(pmtrace_count(tag, 7), 0);
  EXPECT_EQ(pmtrace_add(pmtrace_tag("added"), 2.5), 0);
  EXPECT_EQ(pmtrace_add(pmtrace_tag("added"), 0), 0);
  for (const double wrong : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_EQ(pmtrace_add(pmtrace_tag("added"), wrong), -EINVAL);
  EXPECT_EQ(pmtrace_add(nullptr, 1), PMTRACE_ERR_TAGNAME);
  EXPECT_EQ(pmtrace_begin(tag, &tx), 0);
  EXPECT_EQ(pmtrace_end(&tx), 0);
  EXPECT_EQ(pmtrace_end(&tx), PMTRACE_ERR_NOPROGRESS);
  EXPECT_EQ(pmtrace_begin(tag, &tx), 0);
  EXPECT_EQ(pmtrace_abort(&tx), 0);
  ASSERT_EQ(pmtrace_flush(kPatience), 1);

  for (const char* name : {"by name", "by handle"}) {
    for (const TraceType type : kTraceTypes) EXPECT_EQ(agent.total(type, name).count, 1u) << name;
    EXPECT_EQ(agent.total(TraceType::Transact, name).aborts, 1u);
  }
  EXPECT_EQ(agent.total(TraceType::Observe, "by name").last, 2.5);
  EXPECT_EQ(agent.total(TraceType::Counter, "by handle").last, 7);
  EXPECT_EQ(agent.total(TraceType::Counter, "added").count, 2u);
  EXPECT_EQ(agent.total(TraceType::Counter, "added").sum, 2.5);
  EXPECT_EQ(stats().recorded, 12u);
  EXPECT_EQ(stats().acknowledged, 12u);
  EXPECT_EQ(stats().pending, 0u);
  EXPECT_EQ(stats().aborted, 2u);
  EXPECT_EQ(stats().version, 2);
}

// A queue of a few records: most calls find it full and take the slow way.
TEST_F(Exactness, HoldsForManyThreadsThatOutrunTheFlusher) {
  ::setenv("PCP_TRACE_QUEUE", "8", 1);
  constexpr int kThreads = 8;
  constexpr int kRounds = 20'000;
  in_threads(kThreads, [](int t) {
    const Observation shared{"shared"};
    const Observation own{("own " + std::to_string(t)).c_str()};
    const Transaction transaction{"work"};
    for (int i = 1; i <= kRounds; ++i) {
      shared.record(i);
      own.record(i);
      pmtracepoint("point");
      auto running = transaction.begin();
      if (i % 4 == 0) running.abort();
    }
  });
  ASSERT_EQ(pmtrace_flush(kPatience), 1);

  const Delta shared = agent.total(TraceType::Observe, "shared");
  EXPECT_EQ(shared.count, std::uint64_t{kThreads} * kRounds);
  EXPECT_EQ(shared.sum, kThreads * (0.5 * kRounds * (kRounds + 1)));
  EXPECT_EQ(shared.min, 1);
  EXPECT_EQ(shared.max, kRounds);
  for (int t = 0; t < kThreads; ++t) {
    const Delta own = agent.total(TraceType::Observe, "own " + std::to_string(t));
    EXPECT_EQ(own.count, std::uint64_t{kRounds});
    EXPECT_EQ(own.last, kRounds);
  }
  EXPECT_EQ(agent.total(TraceType::Point, "point").count, std::uint64_t{kThreads} * kRounds);
  const Total work = agent.total(TraceType::Transact, "work");
  EXPECT_EQ(work.count, std::uint64_t{kThreads} * kRounds * 3 / 4);
  EXPECT_EQ(work.aborts, std::uint64_t{kThreads} * kRounds / 4);
  EXPECT_GT(stats().merged, 0u);
  EXPECT_EQ(stats().recorded, std::uint64_t{kThreads} * kRounds * 4);
  EXPECT_EQ(stats().acknowledged, stats().recorded);
  EXPECT_EQ(stats().uncertain, 0u);
}

// Records made while no agent runs wait, and a new agent counts them and nothing else.
TEST_F(Exactness, HoldsAcrossAnOutage) {
  for (int i = 0; i < 1000; ++i) pmtracepoint("outage");
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  agent.stop();
  for (int i = 0; i < 777; ++i) EXPECT_EQ(pmtracepoint("outage"), 0);
  EXPECT_EQ(pmtrace_flush(0.05), 0);
  agent.start();
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  EXPECT_EQ(agent.total(TraceType::Point, "outage").count, 777u);
  EXPECT_EQ(stats().acknowledged, 1777u);
  EXPECT_EQ(stats().reconnects, 1u);
}

TEST_F(Exactness, HoldsWhileTheAgentIsReplacedAgainAndAgain) {
  ::setenv("PCP_TRACE_FLUSH", "5", 1);
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> recorded{0};
  std::thread program([&] {
    const Observation value{"restless"};
    while (!done) {
      value.record(1);
      recorded.fetch_add(1, std::memory_order_relaxed);
    }
  });
  std::uint64_t before = 0;
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(wait_for_count(agent, TraceType::Observe, "restless", 100));
    // An agent's count dies with it; what it did not acknowledge reaches the next one.
    agent.stop();
    while (stats().connected != 0) std::this_thread::yield();  // its last words are read by then
    before = stats().acknowledged;
    agent.start();
  }
  done = true;
  program.join();
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  const Delta total = agent.total(TraceType::Observe, "restless");
  EXPECT_EQ(total.sum, static_cast<double>(total.count));
  EXPECT_EQ(total.count, recorded - before);
  EXPECT_EQ(stats().recorded, recorded);
  EXPECT_EQ(stats().acknowledged, stats().recorded);
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
