// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

TEST(EngineWindow, ChangesItsLengthWithTheRunningIntervalAndLosesNothing) {
  World world({.period = 100ms, .buckets = 1});
  const auto observe = [&](Duration time, double value) {
    world.at(time);
    world.value(Observe, "x", value);
  };
  const auto window_at = [&](Duration time) {
    world.at(time);
    return world.find(Observe, "x")->window;
  };
  observe(50ms, 1);
  observe(110ms, 2);  // before the change, in the interval that changes
  EXPECT_EQ(window_at(120ms).max, 1);
  ASSERT_TRUE(world.engine.change_period(500ms, world.now));
  EXPECT_EQ(world.engine.options().period, 500ms);
  EXPECT_EQ(window_at(130ms).max, 1);  // the completed one is still to be read
  observe(550ms, 3);
  EXPECT_EQ(window_at(599ms).max, 1);
  const WindowSums longer = window_at(600ms);
  EXPECT_EQ(longer.count, 2u);
  EXPECT_EQ(longer.min, 2);
  EXPECT_EQ(longer.max, 3);
  EXPECT_EQ(window_at(1100ms).count, 0u);
  EXPECT_EQ(world.engine.begin_of_life(), World::kStart);
}

TEST(EngineWindow, DoesNotChangeItsLengthAfterTheIntervalHasEnded) {
  World world({.period = 100ms, .buckets = 1});
  world.at(130ms);
  const Instant now = world.now;
  world.at(210ms);
  world.value(Observe, "x");
  EXPECT_FALSE(world.engine.change_period(500ms, now));
  EXPECT_EQ(world.engine.options().period, 100ms);
  EXPECT_EQ(world.engine.next_rotation(world.now), World::kStart + 300ms);
}

class EngineWindowOf : public testing::TestWithParam<EngineOptions> {};

TEST_P(EngineWindowOf, ShowsAValueForExactlyOnePeriod) {
  const Duration period = GetParam().period;
  const std::uint32_t buckets = GetParam().buckets;
  for (std::int64_t k = 0; k < 20; ++k) {
    World world(GetParam());
    const auto begin = [&](std::int64_t interval) {  // ceil(interval * period / buckets)
      return Duration{(interval * period.count() + buckets - 1) / buckets};
    };
    world.at(begin(k + 1) - 1ns);
    world.value(Point, "p");
    EXPECT_EQ(world.in_window(Point, "p"), 0u);
    world.at(begin(k + 1));
    EXPECT_EQ(world.in_window(Point, "p"), 1u);
    world.at(begin(k + 1 + buckets) - 1ns);
    EXPECT_EQ(world.in_window(Point, "p"), 1u);
    world.at(begin(k + 1 + buckets));
    EXPECT_EQ(world.in_window(Point, "p"), 0u);
    EXPECT_EQ(world.find(Point, "p")->total.count, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Divisions, EngineWindowOf,
                         testing::Values(EngineOptions{10s, 5}, EngineOptions{10s, 4},
                                         EngineOptions{1s, 3}, EngineOptions{100ms, 7},
                                         EngineOptions{60s, 12}, EngineOptions{1s, 1},
                                         EngineOptions{48h, 5000}));

TEST(EngineWindow, TakesMinMaxAndSumFromFiniteValuesOnly) {
  World world(kTwoSeconds);
  for (const double value : {1.5, std::nan(""), -2.5, HUGE_VAL, 3.0}) {
    world.value(Observe, "x", value);
  }
  world.value(Observe, "nan", std::nan(""));
  world.at(2s);
  const auto values = world.find(Observe, "x");
  EXPECT_EQ(values->window.count, 5u);
  EXPECT_EQ(values->window.nonfinite, 2u);
  EXPECT_EQ(values->window.sum, 2.0);
  EXPECT_EQ(values->window.min, -2.5);
  EXPECT_EQ(values->window.max, 3.0);
  EXPECT_EQ(values->total.last, 3.0);
  const auto none = world.find(Observe, "nan");
  EXPECT_TRUE(none->in_window);
  EXPECT_FALSE(none->has_quantiles);
  EXPECT_TRUE(std::isnan(none->total.last));
}

TEST(EngineWindow, HasQuantilesForTransactionsAndObservationsNoFurtherOutThanTheExtrema) {
  World world;
  for (const TraceType type : kTraceTypes) world.value(type, "x", 5);
  world.batch(Observe, "y", {100, 100.01, 101});
  world.at(5s);
  for (const TraceType type : kTraceTypes) {
    const auto values = world.find(type, "x");
    EXPECT_TRUE(values->in_window);
    EXPECT_EQ(values->has_quantiles, has_histogram(type));
  }
  EXPECT_EQ(world.find(Transact, "x")->quantiles[0], 5.0);
  EXPECT_EQ(world.find(Observe, "y")->quantiles.back(), 101.0);
  EXPECT_GE(world.find(Observe, "y")->quantiles.front(), 100.0);
}

TEST(EngineWindow, KeepsFailuresApart) {
  World world;
  world.engine.begin_cumulative(world.now);
  world.engine.apply(world.engine.tag(Transact, "nothing"), {}, {}, {}, world.now);
  EXPECT_TRUE(world.instances(Transact).empty());
  world.batch(Transact, "t", {7});
  world.fail("t", {3, 1});
  world.fail("only failed", {2});
  EXPECT_EQ(world.find(Transact, "t")->failed_window.count, 0u);
  world.at(5s);
  const auto values = world.find(Transact, "t");
  EXPECT_EQ(values->failed.count, 2u);
  EXPECT_EQ(values->failed.sum, 4);
  EXPECT_EQ(values->failed_window.min, 1);
  EXPECT_EQ(values->failed_window.max, 3);
  EXPECT_EQ(values->total.sum, 7);
  EXPECT_EQ(values->window.max, 7);
  EXPECT_EQ(values->quantiles.back(), 7);
  const auto failed = world.find(Transact, "only failed");
  EXPECT_EQ(failed->total.count, 0u);
  EXPECT_FALSE(failed->in_window);
  EXPECT_EQ(failed->failed_window.max, 2);
  ASSERT_EQ(world.cumulative(Transact, Outcome::Failed).size(), 2u);
  EXPECT_EQ(world.cumulative(Transact, Outcome::Failed).front().packed, packed({3, 1}));
  EXPECT_EQ(world.cumulative(Transact).front().packed, packed({7}));
  world.at(70s);
  EXPECT_EQ(world.find(Transact, "only failed")->failed_window.count, 0u);
  EXPECT_EQ(world.find(Transact, "only failed")->failed.count, 1u);
  world.fail("late", {1, 2}, age(20s, 20s));  // a batch from an outage fails in the past, too
  world.at(75s);
  EXPECT_EQ(world.find(Transact, "late")->failed_window.count, 2u);
  world.at(115s);
  EXPECT_EQ(world.find(Transact, "late")->failed_window.count, 0u);
}

TEST(EngineWindow, ResetStartsTheIntervalAfresh) {
  World world(kTwoSeconds);
  world.at(1500ms);
  world.engine.reset(world.now);
  world.value(Point, "p");
  world.at(2s);
  EXPECT_EQ(world.in_window(Point, "p"), 0u);
  EXPECT_EQ(world.engine.next_rotation(world.now), World::kStart + 3500ms);
  world.at(3500ms);
  EXPECT_EQ(world.in_window(Point, "p"), 1u);
}

TEST(EngineWindow, TakesAClockThatTwoThreadsReadInTurn) {
  World world(kTwoSeconds);
  world.at(2s);
  world.value(Point, "p");
  world.at(1999ms);  // read earlier, but applied later
  world.value(Point, "p");
  world.at(4s);
  EXPECT_EQ(world.in_window(Point, "p"), 2u);
}

TEST(EngineRotation, HasSomethingToDoUntilAllActiveTagsAreSummarised) {
  World world(kTwoSeconds);
  for (int i = 0; i < 10; ++i) world.value(Point, "p" + std::to_string(i));
  EXPECT_FALSE(world.engine.rotate(world.now, 4));
  EXPECT_EQ(world.engine.next_rotation(world.now), World::kStart + 2s);
  world.at(2s);
  EXPECT_TRUE(world.engine.rotate(world.now, 4));
  EXPECT_EQ(world.engine.next_rotation(world.now), world.now);
  EXPECT_TRUE(world.engine.rotate(world.now, 4));
  EXPECT_FALSE(world.engine.rotate(world.now, 4));
  EXPECT_EQ(world.engine.next_rotation(world.now), World::kStart + 4s);
  EXPECT_EQ(world.engine.counters().rotations, 1u);
}

TEST(EngineRotation, TakesNoTimeForTagsThatAreOutOfTheWindow) {
  World world(kTwoSeconds);
  for (int i = 0; i < 10; ++i) world.value(Point, "p" + std::to_string(i));
  world.at(12s);
  EXPECT_FALSE(world.engine.rotate(world.now, 10));
  world.value(Point, "p3");
  world.at(14s);
  EXPECT_FALSE(world.engine.rotate(world.now, 1));
  EXPECT_EQ(world.engine.counters().rotations, 7u);
}

}  // namespace
}  // namespace pcp::trace::agent
