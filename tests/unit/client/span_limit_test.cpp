// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/span_limit.hpp"

#include <random>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

using wire::kAllIds;
using Answer = SpanLimit::Answer;

constexpr std::uint64_t kSecond = 1'000'000'000;

struct SpanLimitTest : testing::Test {
  SpanLimit limit;
  std::mt19937_64 random{1};

  SpanLimitTest() { limit.set(100); }

  // Gives how many of so many traces of one span each were taken in this second.
  int taken_of(int traces, std::uint64_t second, std::uint64_t share = kAllIds) {
    int taken = 0;
    for (int i = 0; i < traces; ++i) {
      if (limit.admits(share, random(), second * kSecond) != Answer::Taken) continue;
      limit.count(second * kSecond);
      ++taken;
    }
    return taken;
  }
};

TEST_F(SpanLimitTest, TakesAShareByTheTraceAlone) {
  for (const std::uint64_t id : {std::uint64_t{0}, kAllIds / 2 - 1, kAllIds * 3 / 4 - 1})
    EXPECT_EQ(limit.admits(kAllIds / 4, id, kSecond), Answer::NotAskedFor);
  // The highest eight bits do not count.
  for (const std::uint64_t id : {kAllIds * 3 / 4, kAllIds - 1, kAllIds * 5 + kAllIds * 3 / 4})
    EXPECT_EQ(limit.admits(kAllIds / 4, id, kSecond), Answer::Taken);
}

TEST_F(SpanLimitTest, TakesFewerTracesBeyondItAndNoneBeyondTwice) {
  EXPECT_EQ(taken_of(1000, 7), 200);
  EXPECT_EQ(limit.admits(kAllIds, kAllIds - 1, 7 * kSecond), Answer::OverLimit);
  EXPECT_EQ(limit.admits(kAllIds / 2, 0, 7 * kSecond), Answer::NotAskedFor);
}

TEST_F(SpanLimitTest, TellsTheThresholdThatTakenTracesReach) {
  EXPECT_EQ(limit.threshold(kAllIds), 0u);
  EXPECT_EQ(limit.threshold(kAllIds / 4), kAllIds / 4 * 3);
  taken_of(150, 7);
  const std::uint64_t threshold = limit.threshold(kAllIds);
  EXPECT_EQ(limit.admits(kAllIds, threshold - 1, 7 * kSecond), Answer::OverLimit);
  EXPECT_EQ(limit.admits(kAllIds, threshold, 7 * kSecond), Answer::Taken);
}

TEST_F(SpanLimitTest, LearnsWhatShareIsNotTooMuch) {
  for (std::uint64_t second = 1; second < 12; ++second) taken_of(10'000, second);
  const int taken = taken_of(10'000, 12);
  EXPECT_GT(taken, 40);
  EXPECT_LE(taken, 200);
  taken_of(5'000, 13);
  EXPECT_GT(taken_of(5'000, 13), 10);  // the limit is spread over the second
}

TEST_F(SpanLimitTest, TakesNearlyItselfFromAProgramAboveIt) {
  limit.set(10'000);
  for (const int rate : {10'500, 13'700, 19'000, 26'000}) {
    limit.go_on_from(SpanLimit());
    for (std::uint64_t second = 1; second < 4; ++second) taken_of(rate, second);
    for (std::uint64_t second = 4; second < 12; ++second) {
      const int taken = taken_of(rate, second);
      EXPECT_GT(taken, 8'500) << rate;
      EXPECT_LT(taken, 11'000) << rate;
    }
  }
}

TEST_F(SpanLimitTest, IsAboveItselfOnlyForSomeSecondsAtTwentyTimesTheRate) {
  limit.set(10'000);
  for (std::uint64_t second = 1; second < 4; ++second) EXPECT_LE(taken_of(200'000, second), 20'000);
  for (std::uint64_t second = 4; second < 20; ++second)
    EXPECT_LT(taken_of(200'000, second), 12'000);
}

TEST_F(SpanLimitTest, GoesOnWithASecondThatAThreadHasReadLate) {
  EXPECT_EQ(taken_of(100, 7), 100);
  EXPECT_EQ(taken_of(1000, 6), 100);
  EXPECT_EQ(limit.admits(kAllIds, kAllIds - 1, 7 * kSecond), Answer::OverLimit);
}

TEST_F(SpanLimitTest, TakesAllAgainAfterAWhile) {
  for (std::uint64_t second = 1; second < 12; ++second) taken_of(10'000, second);
  for (std::uint64_t second = 12; second < 60; ++second) taken_of(10, second);
  EXPECT_EQ(taken_of(100, 60), 100);
}

TEST_F(SpanLimitTest, TakesLaterWhatItSaysIsTakenFromNowOn) {
  int promised = 0;
  int refused = 0;
  std::uint64_t second = 1;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 64 == 0) second += 1 + random() % 2;
    limit.count(second * kSecond);
    const std::uint64_t share = kAllIds >> random() % 8;
    const std::uint64_t trace = random();
    if (!limit.admits_from_now_on(share, trace)) {
      ++refused;
      continue;
    }
    ++promised;
    for (const std::uint64_t later : {0U, 1U, 2U, 3U, 50U})
      ASSERT_EQ(limit.admits(share, trace, (second + later) * kSecond), Answer::Taken) << i;
  }
  EXPECT_GT(promised, 1000);
  EXPECT_GT(refused, 1000);
}

TEST_F(SpanLimitTest, GoesOnWhereAnotherWas) {
  taken_of(1000, 7);
  SpanLimit next;
  next.set(100);
  next.go_on_from(limit);
  EXPECT_EQ(next.admits(kAllIds, kAllIds - 1, 7 * kSecond), Answer::OverLimit);
}

}  // namespace
}  // namespace pcp::trace::client
