// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/capture_table.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

constexpr Audience kEverybody{};
constexpr Audience kAlice{1000};
constexpr Audience kBob{1001};

struct CapturesOf : testing::Test {
  CaptureTable captures;
};

TEST_F(CapturesOf, TheSameFilterAndAudienceShareAPlace) {
  EXPECT_EQ(captures.open("tag=a", kEverybody), 0u);
  EXPECT_EQ(captures.open("tag=b", kEverybody), 1u);
  EXPECT_EQ(captures.open("tag=a", kAlice), 2u);
  const std::uint64_t before = captures.number();
  EXPECT_EQ(captures.open("tag=a", kEverybody), 0u);
  EXPECT_EQ(captures.number(), before);
  EXPECT_FALSE(captures.close(0));
  EXPECT_EQ(captures.number(), before);
  EXPECT_TRUE(captures.close(0));
  EXPECT_GT(captures.number(), before);
  EXPECT_EQ(captures.count(), 2u);
}

TEST_F(CapturesOf, AThirtyThirdAreRefused) {
  for (std::size_t i = 0; i < wire::kMaxCaptures; ++i)
    EXPECT_EQ(captures.open("tag=" + std::to_string(i), kEverybody), i);
  EXPECT_EQ(captures.open("tag=new", kEverybody), std::nullopt);
  EXPECT_EQ(captures.open("tag=7", kEverybody), 7u);
  captures.close(9);
  EXPECT_EQ(captures.open("tag=new", kEverybody), 9u);
}

TEST_F(CapturesOf, UsersLeavePlacesToOthersAndToThePrivileged) {
  for (std::size_t i = 0; i < CaptureTable::kMostOfAUid; ++i)
    EXPECT_TRUE(captures.open(std::to_string(i), kAlice));
  EXPECT_FALSE(captures.open("one more", kAlice));
  EXPECT_TRUE(captures.open("one more", kBob));
  for (std::uint32_t uid = 2000; uid < 2100; ++uid) captures.open("mine", {uid});
  EXPECT_EQ(captures.count(), CaptureTable::kMostOfAllUids);
  EXPECT_TRUE(captures.open("tag=*", kEverybody));
}

TEST_F(CapturesOf, AProcessAreThoseOfItsUserAndOfEverybody) {
  captures.open("a", kEverybody);
  captures.open("b", kAlice);
  captures.open("c", kBob);
  EXPECT_EQ(captures.seen_by(1000), 0b011u);
  EXPECT_EQ(captures.seen_by(1001), 0b101u);
  EXPECT_EQ(captures.seen_by(5), 0b001u);
}

TEST_F(CapturesOf, AProcessChangeForItOnlyWithWhatItSees) {
  const auto number = captures.changed_for(1000);
  captures.open("c", kBob);
  EXPECT_EQ(captures.changed_for(1000), number);
  captures.open("b", kAlice);
  const auto with_own = captures.changed_for(1000);
  EXPECT_EQ(with_own, captures.number());
  captures.open("a", kEverybody);
  EXPECT_GT(captures.changed_for(1000), with_own);
  captures.close(1);
  EXPECT_EQ(captures.changed_for(1000), captures.number());
}

// A late span is for the filter that had its bit when it was captured, not for the present one.
TEST_F(CapturesOf, ThePastAreTranslatedToThoseOfNow) {
  captures.open("a", kEverybody);
  captures.open("b", kEverybody);
  const auto then = captures.number();
  captures.close(1);
  captures.open("c", kEverybody);
  EXPECT_EQ(captures.at(1).filter, "c");
  EXPECT_EQ(captures.valid_bits(0b11, then, 5), 0b01u);
  EXPECT_EQ(captures.valid_bits(0b11, captures.number(), 5), 0b11u);
  captures.open("a", kAlice);  // others are not believed
  EXPECT_EQ(captures.valid_bits(0b100, captures.number(), 1000), 0b100u);
  EXPECT_EQ(captures.valid_bits(0b100, captures.number(), 1001), 0u);
}

TEST_F(CapturesOf, AnIdAreFoundAsLongAsTheyAreOpen) {
  captures.open("a", kEverybody);
  const auto id = captures.at(0).id;
  EXPECT_EQ(captures.bit_of(id), 0u);
  EXPECT_EQ(captures.bit_of(0), std::nullopt);
  captures.close(0);
  captures.open("a", kEverybody);
  EXPECT_EQ(captures.bit_of(id), std::nullopt);
}

}  // namespace
}  // namespace pcp::trace::agent
