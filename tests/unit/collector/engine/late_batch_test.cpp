// SPDX-License-Identifier: LGPL-2.1-or-later
// Batches that arrive late.
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

class WindowTest : public testing::Test {
 protected:
  explicit WindowTest(const EngineOptions& options) : world(options) {}

  std::uint64_t window_at(Duration time) {
    world.at(time);
    return world.in_window(Observe, "x");
  }

  World world;
};

struct LateBatch : WindowTest {
  LateBatch() : WindowTest(kTwoSeconds) {}

  // Sends one value for every tenth of a second between these times before now.
  void send(Duration first, Duration last) {
    std::vector<double> values;
    for (Duration time = first; time > last; time -= 100ms) {
      values.push_back(static_cast<double>(time.count()) / 1e9);
    }
    world.batch(Observe, "x", values, age(first, last));
  }
};

TEST_F(LateBatch, AsRecentAsOneIntervalOrOfOneMomentEntersOneBucket) {
  world.at(101s);
  send(2s, 0s);  // seventeen of twenty happened before this interval began
  world.batch(Observe, "x", {1}, age(5s, 5s));
  EXPECT_EQ(window_at(102s), 21u);
  EXPECT_EQ(window_at(107999ms), 21u);
  EXPECT_EQ(window_at(108s), 20u);
  EXPECT_EQ(window_at(111999ms), 20u);
  EXPECT_EQ(window_at(112s), 0u);
}

TEST_F(LateBatch, EntersTheBucketsOfItsTime) {
  world.at(101s);
  send(9s, 0s);  // values from 92 s on; the next rotation removes 90 to 92
  EXPECT_EQ(window_at(102s), 90u);
  EXPECT_NEAR(static_cast<double>(window_at(104s)), 70, 2);
  EXPECT_NEAR(static_cast<double>(window_at(106s)), 50, 4);
  EXPECT_NEAR(static_cast<double>(window_at(108s)), 30, 4);
  EXPECT_EQ(window_at(112s), 0u);
  EXPECT_EQ(world.engine.counters().late, 0u);
}

TEST_F(LateBatch, KeepsTheRateSteadyOverAnOutageAndARestart) {
  world.at(500ms);
  send(30s, 0s);  // the agent was away for half a minute
  for (int i = 6; i < 200; ++i) {
    world.at(i * 100ms);
    world.value(Observe, "x", 1);
    if (i >= 20) {
      EXPECT_NEAR(static_cast<double>(world.in_window(Observe, "x")), 100, 5);
    }
  }
  EXPECT_EQ(world.find(Observe, "x")->total.count, 300u + 194u);
}

TEST_F(LateBatch, LeavesTheShareBeforeTheWindowToTheTotals) {
  world.at(101s);
  send(18s, 0s);  // the next window begins at 92 s, in the middle of them
  EXPECT_EQ(window_at(102s), 90u);
  const auto values = world.find(Observe, "x");
  EXPECT_EQ(values->total.count, 180u);
  EXPECT_NEAR(values->window.sum, values->total.sum / 2, 1e-9);
  EXPECT_EQ(values->window.min, values->total.min);
  EXPECT_EQ(values->window.max, values->total.max);
  EXPECT_EQ(world.engine.counters().late, 90u);
  send(30s, 20s);  // all of them before the window
  EXPECT_EQ(window_at(102s), 90u);
  EXPECT_EQ(world.find(Observe, "x")->total.count, 280u);
  EXPECT_EQ(world.engine.counters().late, 190u);
}

TEST_F(LateBatch, OfOneCallIsEitherInTheWindowOrNot) {
  world.at(101s);
  world.batch(Observe, "x", {4}, age(20s, 0s));
  world.at(102s);
  const auto values = world.find(Observe, "x");
  EXPECT_EQ(values->window.sum, values->in_window ? 4.0 : 0.0);
  EXPECT_EQ(values->total.count, 1u);
  EXPECT_EQ(world.in_window(Observe, "x") + world.engine.counters().late, 1u);
}

TEST_F(LateBatch, ScalesItsHistogram) {
  world.at(101s);
  std::vector<double> values(900, 1.0);
  values.insert(values.end(), 100, 50.0);
  world.batch(Transact, "t", values, age(18s, 0s));  // 500 in the window
  world.batch(Transact, "t", std::vector<double>(500, 100.0));
  world.at(102s);
  const auto half = world.find(Transact, "t");
  EXPECT_EQ(half->window.count, 1000u);
  EXPECT_NEAR(half->quantiles[0], 50, 1);  // 450 ones, 50 fifties, 500 hundreds
  EXPECT_NEAR(half->quantiles[1], 100, 2);
}

TEST_F(LateBatch, OfFewValuesHasEachOfThemInItsPercentiles) {
  world.at(101s);
  world.batch(Transact, "t", {1, 1, 1, 1, 1, 1000}, age(9s, 0s));
  world.batch(Transact, "three", {1, 2, 3}, age(9s, 0s));
  world.at(102s);
  const auto six = world.find(Transact, "t");
  EXPECT_NEAR(six->quantiles[0], 1, 0.02);
  EXPECT_NEAR(six->quantiles[1], 1000, 20);
  const auto three = world.find(Transact, "three");
  ASSERT_TRUE(three->has_quantiles);
  EXPECT_NEAR(three->quantiles[0], 2, 0.04);
  EXPECT_NEAR(three->quantiles[1], 3, 0.06);
}

TEST_F(LateBatch, HasPercentilesAsLongAsItHasValues) {
  for (int count = 1; count < 12; ++count) {
    world.at(count * 100s + 1s);
    world.batch(Transact, "t", std::vector<double>(static_cast<std::size_t>(count), 1),
                age(9s, 0s));
    for (int i = 1; i < 12; ++i) {
      world.at(count * 100s + i * 1s);
      const auto tag = world.find(Transact, "t");
      EXPECT_EQ(tag->has_quantiles, tag->in_window) << count << " values, after " << i << " s";
    }
    EXPECT_EQ(world.find(Transact, "t")->total.unbinned, 0u);
  }
}

TEST_F(LateBatch, SurvivesAnyAge) {
  const auto never = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, never / 2, never}) {
    for (const std::uint64_t last : {std::uint64_t{0}, std::uint64_t{1}, never / 2, never}) {
      world.batch(Observe, "x", {1, 2}, {first, last});
    }
  }
  EXPECT_EQ(world.find(Observe, "x")->total.count, 32u);
}

class PacedByItsReader : public WindowTest {
 protected:
  PacedByItsReader() : WindowTest({.period = 100ms, .buckets = 1, .is_paced_by_reader = true}) {}

  void send(std::size_t values, Duration ago = {}) {
    world.batch(Observe, "x", std::vector<double>(values, 1), age(ago, ago));
  }
};

TEST_F(PacedByItsReader, BatchesOfAnyAgeEnterTheWorkingBucket) {
  world.at(20s);
  EXPECT_EQ(window_at(20s), 0u);
  send(3, 10s);
  EXPECT_EQ(world.engine.counters().late, 0u);
  EXPECT_EQ(window_at(20100ms), 3u);
}

TEST_F(PacedByItsReader, NoValueIsLostIfTheReaderIsLate) {
  EXPECT_EQ(window_at(150ms), 0u);
  for (const Duration time : {160ms, 220ms, 350ms, 640ms}) {  // intervals end here, unread
    world.at(time);
    send(1);
  }
  EXPECT_EQ(window_at(650ms), 4u);
  world.at(690ms);
  send(1);
  EXPECT_EQ(window_at(699ms), 4u);  // the next interval ends at the usual time
  EXPECT_EQ(window_at(700ms), 1u);
  EXPECT_EQ(window_at(2s), 0u);
}

}  // namespace
}  // namespace pcp::trace::agent
