// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/moment.hpp"

#include <gtest/gtest.h>

#include "open/tick_rate.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr double kTick = 0.4e-9;  // a counter at 2.5 GHz

std::uint64_t ticks_at(std::uint64_t ns) { return 1'000'000 + ns * 5 / 2; }

TEST(TickRate, IsUnknownUntilSomeTimeHasPassed) {
  TickRate rate;
  rate.observe(ticks_at(kSecond), kSecond);
  rate.observe(ticks_at(kSecond + 1000), kSecond + 1000);
  EXPECT_EQ(rate.seconds_per_tick(), 0);
  rate.observe(ticks_at(2 * kSecond), 2 * kSecond);
  EXPECT_NEAR(rate.seconds_per_tick(), kTick, kTick * 1e-9);
}

TEST(TickRate, StaysWhileBothClocksAgree) {
  TickRate rate;
  for (std::uint64_t second = 1; second < 100'000; second += 7)
    rate.observe(ticks_at(second * kSecond), second * kSecond + second % 3 * 1000);
  EXPECT_FALSE(rate.has_failed());
  EXPECT_NEAR(rate.seconds_per_tick(), kTick, kTick * 1e-6);
}

TEST(TickRate, IsGivenUpForEverWhenTheCounterChangesItsPace) {
  TickRate rate;
  rate.observe(ticks_at(kSecond), kSecond);
  rate.observe(ticks_at(2 * kSecond), 2 * kSecond);
  ASSERT_GT(rate.seconds_per_tick(), 0);
  rate.observe(ticks_at(2 * kSecond) + kSecond, 3 * kSecond);
  EXPECT_TRUE(rate.has_failed());
  rate.observe(ticks_at(4 * kSecond), 4 * kSecond);
  EXPECT_EQ(rate.seconds_per_tick(), 0);
}

TEST(TickRate, IsGivenUpWhenTheCounterGoesBackwardsOrTheNamedOneIsWrong) {
  TickRate unknown;
  unknown.observe(ticks_at(2 * kSecond), kSecond);
  unknown.observe(ticks_at(kSecond), 2 * kSecond);
  EXPECT_TRUE(unknown.has_failed());
  TickRate named(kTick * 1.01);
  for (const std::uint64_t ns : {kSecond, 2 * kSecond}) named.observe(ticks_at(ns), ns);
  EXPECT_TRUE(named.has_failed());
  EXPECT_EQ(named.seconds_per_tick(), 0);
}

// As with arm64's counter, whose frequency is known.
TEST(TickRate, IsTheNamedOneFromTheFirstReadingOn) {
  TickRate rate(kTick);
  EXPECT_EQ(rate.seconds_per_tick(), 0);
  rate.observe(ticks_at(kSecond), kSecond);
  EXPECT_EQ(rate.seconds_per_tick(), kTick);
}

// Begins and ends with an unknown rate: a flusher of an earlier test may have learnt it.
struct ClockTest : testing::Test {
  ClockTest() { seconds_per_tick = 0; }
  ~ClockTest() override { seconds_per_tick = 0; }
};

TEST_F(ClockTest, MeasuresByTheClockWhileTheRateIsUnknown) {
  const Moment then = present_moment();
  EXPECT_EQ(then & 1, 1u);
  EXPECT_DOUBLE_EQ(seconds_since(then, then + 2 * kSecond), 1.0);
}

TEST_F(ClockTest, MeasuresByTheCounterWhenTheRateIsKnown) {
  seconds_per_tick = kTick;
  const Moment then = present_moment();
  EXPECT_EQ(then & 1, 0u);
  EXPECT_NEAR(seconds_since(then, then + 2'500'000'000), 1.0, 1e-9);
}

TEST_F(ClockTest, EndsADurationByWhatItBeganWith) {
  const Moment by_clock = present_moment();
  seconds_per_tick = kTick;
  const double known = seconds_since(by_clock, present_moment());
  EXPECT_GE(known, 0);
  EXPECT_LT(known, 60);
  const Moment by_counter = present_moment();
  seconds_per_tick = 0;
  EXPECT_EQ(seconds_since(by_counter, present_moment()), 0);
}

TEST_F(ClockTest, NeverGivesANegativeDuration) {
  const Moment then = present_moment();
  EXPECT_EQ(seconds_since(then, then), 0);
  EXPECT_EQ(seconds_since(then, then - 2), 0);
}

// The real counter, if the kernel trusts it.
TEST_F(ClockTest, BothClocksMeasureTheSame) {
  if (!is_counter_trusted()) GTEST_SKIP() << "this machine has no counter to trust";
  TickRate rate;  // learnt, even if the processor names one
  while (seconds_per_tick == 0) watch_counter(rate);
  if (const double named = named_seconds_per_tick(); named != 0) {
    EXPECT_NEAR(rate.seconds_per_tick(), named, named * 1e-3);
  }
  // Readings may be interrupted, but the duration lies between the clock's times just inside it and
  // just outside of it.
  const std::uint64_t outside = now_ns();
  const Moment then = present_moment();
  const std::uint64_t inside = now_ns();
  std::uint64_t inside_end;
  do inside_end = now_ns();
  while (inside_end < inside + 20'000'000);
  const Moment now = present_moment();
  const std::uint64_t outside_end = now_ns();
  const double seconds = seconds_since(then, now);
  EXPECT_GE(seconds, static_cast<double>(inside_end - inside) * 0.998e-9);
  EXPECT_LE(seconds, static_cast<double>(outside_end - outside) * 1.002e-9);
}

}  // namespace
}  // namespace pcp::trace::client
