// SPDX-License-Identifier: LGPL-2.1-or-later
// The buckets of one tag, which are an array without the numbers of their intervals.
#include "collector/engine/window_sums.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

constexpr std::size_t kMost = 12;

struct WindowBucketsTest : testing::Test {
  // Completes an interval with these values.
  void complete(std::int64_t interval, const std::vector<double>& values, std::int64_t oldest) {
    for (const double value : values) buckets.working().add(value);
    buckets.advance(interval, oldest, kMost);
  }

  void add_late(std::int64_t interval, double value) {
    buckets.completed(interval, kMost).add(value);
  }

  double sum_of(std::int64_t interval) { return buckets.completed(interval, kMost).sum; }

  WindowBuckets buckets;
};

TEST_F(WindowBucketsTest, AreEmptyAtFirst) {
  EXPECT_TRUE(buckets.empty());
  EXPECT_EQ(buckets.total_of_completed().count, 0u);
  complete(5, {}, 0);
  EXPECT_TRUE(buckets.empty());
}

TEST_F(WindowBucketsTest, TheWorkingOneCountsWhenItIsCompleted) {
  buckets.working().add(3);
  EXPECT_FALSE(buckets.empty());
  EXPECT_EQ(buckets.total_of_completed().count, 0u);
  buckets.advance(7, 0, kMost);
  EXPECT_EQ(buckets.total_of_completed().count, 1u);
  EXPECT_EQ(buckets.working().count, 0u);
  EXPECT_EQ(sum_of(7), 3);
}

TEST_F(WindowBucketsTest, FollowEachOther) {
  for (int interval = -3; interval < 4; ++interval) complete(interval, {1.0 * interval}, -3);
  EXPECT_EQ(buckets.size(), 8u);
  for (int interval = -3; interval < 4; ++interval) EXPECT_EQ(sum_of(interval), interval);
  EXPECT_EQ(buckets.total_of_completed().min, -3);
  EXPECT_EQ(buckets.total_of_completed().max, 3);
}

TEST_F(WindowBucketsTest, AGapHoldsNothing) {
  complete(1, {10}, 0);
  complete(2, {}, 0);
  complete(5, {50}, 0);
  const WindowSums total = buckets.total_of_completed();
  EXPECT_EQ(total.count, 2u);
  EXPECT_EQ(total.sum, 60);
  EXPECT_EQ(total.min, 10);
  EXPECT_EQ(total.max, 50);
  for (const int interval : {2, 3, 4}) EXPECT_EQ(buckets.completed(interval, kMost).count, 0u);
}

TEST_F(WindowBucketsTest, ALateValueGoesBeforeBetweenAndAfterTheOthers) {
  complete(5, {50}, 0);
  complete(8, {80}, 0);
  add_late(2, 20);
  add_late(6, 60);
  add_late(11, 110);
  add_late(5, 5);
  EXPECT_EQ(sum_of(2), 20);
  EXPECT_EQ(sum_of(5), 55);
  EXPECT_EQ(sum_of(6), 60);
  EXPECT_EQ(sum_of(8), 80);
  EXPECT_EQ(sum_of(11), 110);
  EXPECT_EQ(buckets.total_of_completed().count, 6u);
}

TEST_F(WindowBucketsTest, ALateValueMayBeTheFirst) {
  add_late(4, 40);
  EXPECT_FALSE(buckets.empty());
  EXPECT_EQ(sum_of(4), 40);
}

TEST_F(WindowBucketsTest, TheOldOnesAreForgotten) {
  for (int interval = 0; interval < 10; ++interval) complete(interval, {1}, 0);
  buckets.advance(10, 4, kMost);
  EXPECT_EQ(buckets.total_of_completed().count, 6u);
  buckets.advance(11, 10, kMost);
  EXPECT_TRUE(buckets.empty());
}

TEST_F(WindowBucketsTest, AWorkingOneThatIsTooOldIsForgotten) {
  complete(3, {30}, 0);
  complete(4, {40}, 5);
  EXPECT_TRUE(buckets.empty());
}

TEST_F(WindowBucketsTest, BeginAnywhereAfterTheyWereEmpty) {
  complete(3, {30}, 0);
  buckets.advance(4, 100, kMost);
  ASSERT_TRUE(buckets.empty());
  complete(200, {7}, 190);
  EXPECT_EQ(buckets.size(), 2u);
  EXPECT_EQ(sum_of(200), 7);
  buckets.advance(1000, 900, kMost);
  ASSERT_TRUE(buckets.empty());
  add_late(950, 9);
  EXPECT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets.total_of_completed().sum, 9);
}

TEST_F(WindowBucketsTest, NeverBecomeMoreThanTheWindowHas) {
  for (int interval = 0; interval < 1000; ++interval) {
    complete(interval, {1.0 * interval}, interval + 1 - static_cast<int>(kMost));
    EXPECT_LE(buckets.size(), kMost + 1);
  }
  EXPECT_EQ(buckets.total_of_completed().count, kMost);
  EXPECT_EQ(buckets.total_of_completed().min, 988);
}

}  // namespace
}  // namespace pcp::trace::agent
