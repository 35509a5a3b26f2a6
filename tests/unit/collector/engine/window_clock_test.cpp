// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/window_clock.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;

constexpr Instant at(Duration time) { return Instant(time); }

TEST(WindowClock, DividesAPeriodRoundingBeginningsUpWithoutDrifting) {
  const WindowClock quarters(10s, 4, at(0s));
  EXPECT_EQ(quarters.begin_of(1), at(2500ms));
  EXPECT_EQ(quarters.begin_of(4), at(10s));
  const WindowClock thirds(1s, 3, at(0s));
  EXPECT_EQ(thirds.begin_of(1), at(333333334ns));
  EXPECT_EQ(thirds.begin_of(2), at(666666667ns));
  EXPECT_EQ(thirds.begin_of(3), at(1s));
  EXPECT_EQ(thirds.begin_of(3'000'000'000), at(1'000'000'000s));
  EXPECT_EQ(thirds.interval_length(), 333333334ns);
  const WindowClock sevenths(100ms, 7, at(5s));
  EXPECT_EQ(sevenths.begin_of(1), at(5s + 14285715ns));
  EXPECT_EQ(sevenths.begin_of(7), at(5s + 100ms));
}

TEST(WindowClock, PutsATimeIntoTheIntervalThatBeginsThenOrBefore) {
  const WindowClock clock(1s, 3, at(7s));
  for (std::int64_t interval = -10; interval < 1000; ++interval) {
    const Instant begin = clock.begin_of(interval);
    EXPECT_EQ(clock.interval_at(begin), interval);
    EXPECT_EQ(clock.interval_at(begin - 1ns), interval - 1);
  }
}

TEST(WindowClock, SurvivesTheLongestTimes) {
  const Instant latest = Instant::max();
  const WindowClock clock(24h * 30, 100'000, at(0s));
  const std::int64_t interval = clock.interval_at(latest);
  EXPECT_LE(clock.begin_of(interval), latest);
  EXPECT_GT(interval, 0);
}

TEST(WindowClock, GoesOnCountingFromTheIntervalInWhichThePeriodChanges) {
  WindowClock clock(100ms, 1, at(7s));
  clock.change_period(250ms, 3);
  EXPECT_EQ(clock.interval_at(at(7299ms)), 2);
  EXPECT_EQ(clock.begin_of(3), at(7300ms));
  EXPECT_EQ(clock.interval_at(at(7549ms)), 3);
  EXPECT_EQ(clock.begin_of(4), at(7550ms));
  EXPECT_EQ(clock.interval_length(), 250ms);
  clock.change_period(1s, 5);
  EXPECT_EQ(clock.begin_of(5), at(7800ms));
  EXPECT_EQ(clock.begin_of(6), at(8800ms));
  clock.restart(at(20s));
  EXPECT_EQ(clock.begin_of(1), at(21s));
}

}  // namespace
}  // namespace pcp::trace::agent
