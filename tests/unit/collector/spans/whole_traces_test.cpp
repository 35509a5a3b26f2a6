// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/whole_traces.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

constexpr Instant kBegin{std::chrono::hours(1)};
constexpr Duration kMoment = std::chrono::milliseconds(1);

struct WholeTracesTest : testing::Test {
  WholeTraces whole;

  // Two processes send spans.
  std::uint64_t threshold(std::size_t bit, const std::string& user, Instant now) {
    of_process(bit, user, 1, now);
    return of_process(bit, user, 2, now);
  }
  std::uint64_t of_process(std::size_t bit, const std::string& user, std::uint8_t process,
                           Instant now) {
    return whole.thresholds(CaptureBits{1} << bit, user, {process}, now)[bit];
  }
};

TEST_F(WholeTracesTest, ReachTheGreatestThresholdOfTheLastSeconds) {
  EXPECT_EQ(threshold(3, "alice", kBegin), 0u);
  whole.note(3, "alice", 70, kBegin);
  whole.note(3, "alice", 50, kBegin + WholeTraces::kHeld);
  EXPECT_EQ(threshold(3, "alice", kBegin + 2 * WholeTraces::kHeld - kMoment), 70u);
  EXPECT_EQ(threshold(3, "alice", kBegin + 2 * WholeTraces::kHeld), 50u);
  EXPECT_EQ(threshold(3, "alice", kBegin + 3 * WholeTraces::kHeld), 0u);
}

TEST_F(WholeTracesTest, AreOfOneUserAndOneCapture) {
  whole.note(3, "alice", 70, kBegin);
  whole.note(3, "bob", 50, kBegin);
  EXPECT_EQ(threshold(3, "bob", kBegin), 50u);
  EXPECT_EQ(threshold(4, "alice", kBegin), 0u);
  whole.forget(3);
  EXPECT_EQ(threshold(3, "alice", kBegin), 0u);
}

TEST_F(WholeTracesTest, NeedNoThresholdIfOnlyOneProcessSends) {
  whole.note(3, "alice", 70, kBegin);
  EXPECT_EQ(of_process(3, "alice", 1, kBegin), 0u);
  EXPECT_EQ(of_process(3, "alice", 2, kBegin), 70u);
  EXPECT_EQ(of_process(3, "alice", 1, kBegin), 70u);
  EXPECT_EQ(of_process(3, "alice", 1, kBegin + WholeTraces::kHeld), 0u);
}

}  // namespace
}  // namespace pcp::trace::agent
