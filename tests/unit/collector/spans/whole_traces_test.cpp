// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/whole_traces.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

constexpr Instant kBegin{std::chrono::hours(1)};
constexpr Duration kMoment = std::chrono::milliseconds(1);

TEST(WholeTraces, ReachTheGreatestThresholdOfTheLastSeconds) {
  WholeTraces whole;
  EXPECT_EQ(whole.threshold(3, "alice", kBegin), 0u);
  whole.note(3, "alice", 70, kBegin);
  whole.note(3, "alice", 50, kBegin + WholeTraces::kHeld);
  EXPECT_EQ(whole.threshold(3, "alice", kBegin + 2 * WholeTraces::kHeld - kMoment), 70u);
  EXPECT_EQ(whole.threshold(3, "alice", kBegin + 2 * WholeTraces::kHeld), 50u);
  EXPECT_EQ(whole.threshold(3, "alice", kBegin + 3 * WholeTraces::kHeld), 0u);
}

TEST(WholeTraces, AreOfOneUserAndOneCapture) {
  WholeTraces whole;
  whole.note(3, "alice", 70, kBegin);
  whole.note(3, "bob", 50, kBegin);
  EXPECT_EQ(whole.threshold(3, "bob", kBegin), 50u);
  EXPECT_EQ(whole.threshold(4, "alice", kBegin), 0u);
  whole.forget(3);
  EXPECT_EQ(whole.threshold(3, "alice", kBegin), 0u);
}

}  // namespace
}  // namespace pcp::trace::agent
