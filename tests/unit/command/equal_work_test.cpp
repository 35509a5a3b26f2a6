// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/equal_work.hpp"

#include <list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

class Work : public testing::Test {
 protected:
  // A tag of both runs: its calls, and its total times.
  void add(double calls_before, double calls_now, double time_before, double time_now) {
    Tag tag;
    tag.type = TraceType::Transact;
    tag.calls = calls_before;
    tag.sum = time_before;
    const Tag* const before = &tags_.emplace_back(tag);
    tag.calls = calls_now;
    tag.sum = time_now;
    pairs_.push_back({before, &tags_.emplace_back(tag), {}, {}});
  }

  double factor() const { return equal_work(pairs_).factor; }

  std::list<Tag> tags_;
  std::vector<ComparedTag> pairs_;
};

TEST_F(Work, OfOneTagIsItsCalls) {
  add(100, 250, 1, 2.5);
  EXPECT_EQ(factor(), 2.5);
  EXPECT_EQ(equal_work(pairs_).measure, &pairs_[0]);
}

TEST_F(Work, IsTheSameAlthoughOneTagIsCalledMoreOften) {
  add(100, 100, 10, 19);  // requests
  add(100, 1000, 1, 10);  // queries in them
  add(100, 100, 1, 1);
  EXPECT_EQ(factor(), 1);
}

TEST_F(Work, OfTwoEqualHalvesIsTheOneNearerToOne) {
  add(100, 100, 1, 1);
  add(100, 1000, 1, 1);
  EXPECT_EQ(factor(), 1);
  pairs_.clear();
  add(100, 200, 1, 1);
  add(1000, 100, 1, 1);
  EXPECT_EQ(factor(), 2);
}

TEST_F(Work, IsNotMeasuredByRareTags) {
  add(1, 1, 0.1, 0.1);
  add(1, 1, 0.1, 0.1);
  add(1000, 2000, 10, 20);
  EXPECT_EQ(factor(), 2);
}

TEST_F(Work, CountsCallsThatFailed) {
  add(100, 50, 1, 0.5);
  tags_.back().failed = 50;
  EXPECT_EQ(factor(), 1);
}

TEST_F(Work, IsExactlyEqualIfOnlyTheNumberOfFailuresDiffers) {
  add(300, 299, 10, 9.9);
  tags_.back().failed = 1;
  add(700, 0, 90, 0);  // no call of this tag succeeds: it has no time to count by
  tags_.back().failed = 700;
  add(7, 4, 1, 0.6);
  tags_.back().failed = 3;
  EXPECT_EQ(factor(), 1);
}

TEST_F(Work, IsMoreIfACallIsBegunAgainAfterAFailure) {
  add(100, 100, 1, 1);
  tags_.back().failed = 50;
  EXPECT_EQ(factor(), 1.5);
}

TEST_F(Work, WithoutTimesIsMeasuredByCalls) {
  add(100, 300, 0, 0);
  tags_.front().type = tags_.back().type = TraceType::Point;
  EXPECT_EQ(factor(), 3);
}

TEST_F(Work, OfNothingIsEqual) {
  EXPECT_EQ(factor(), 1);
  add(0, 5, 0, 1);
  EXPECT_EQ(factor(), 1);
  EXPECT_EQ(equal_work(pairs_).measure, nullptr);
}

}  // namespace
}  // namespace pcp::trace::command
