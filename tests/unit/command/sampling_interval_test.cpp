// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/sampling_interval.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

using namespace std::chrono_literals;

TEST(SamplingInterval, GrowsWithTheRun) {
  EXPECT_EQ(interval_after(0s, 0), 100ms);
  EXPECT_EQ(interval_after(19999ms, 0), 100ms);
  EXPECT_EQ(interval_after(20s, 0), 200ms);
  EXPECT_EQ(interval_after(50s, 0), 500ms);
  EXPECT_EQ(interval_after(100s, 0), 1s);
  EXPECT_EQ(interval_after(2h - 1s, 0), 1s);
  EXPECT_EQ(interval_after(2h, 0), 2s);
  EXPECT_EQ(interval_after(60h, 0), 60s);
  EXPECT_EQ(interval_after(24h * 365, 0), 60s);
}

TEST(SamplingInterval, IsLongEnoughForTheTags) {
  EXPECT_EQ(interval_after(0s, 100), 100ms);
  EXPECT_EQ(interval_after(0s, 101), 200ms);
  EXPECT_EQ(interval_after(0s, 501), 1s);
  EXPECT_EQ(interval_after(0s, 2000), 2s);
  EXPECT_EQ(interval_after(0s, 2001), 10s);
  EXPECT_EQ(interval_after(24h * 365, 2001), 60s);
}

TEST(SamplingInterval, KeepsTheNumberOfSamplesBounded) {
  std::size_t samples = 0;
  for (Duration elapsed{}; elapsed < 24h; elapsed += interval_after(elapsed, 1)) ++samples;
  EXPECT_GT(samples, 5000U);
  EXPECT_LT(samples, 25'000U);
}

}  // namespace
}  // namespace pcp::trace::command
