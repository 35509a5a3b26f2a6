// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/open_by_name.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

struct OpenByNameTest : testing::Test {
  // As in the library never destroyed; this list keeps them reachable for leak checkers.
  static OpenByName& make_transactions() {
    static auto& kept = *new std::vector<OpenByName*>;
    return *kept.emplace_back(new OpenByName);
  }

  OpenByName& transactions = make_transactions();
};

TEST_F(OpenByNameTest, RememberWhenEachTagBegan) {
  auto* one = transactions.find_or_make(intern_tag("open one"));
  auto* two = transactions.find_or_make(intern_tag("open two"));
  one->begin(100, false, OpenTable::kNoRef);
  two->begin(200, false, OpenTable::kNoRef);
  EXPECT_EQ(transactions.find_or_make(intern_tag("open one")), one);
  EXPECT_TRUE(one->blocks_begin());
  EXPECT_EQ(one->close().moment, 100u);
  EXPECT_EQ(one->close().moment, 0u);
  EXPECT_FALSE(one->is_open());
  EXPECT_EQ(two->close().moment, 200u);
}

TEST_F(OpenByNameTest, OfNamesWithoutATagOfTheirOwnAreToldApartAndUseClosedOnesAgain) {
  const Tag* tag = intern_tag("stands for others");
  auto* own = transactions.find_or_make(tag);
  auto* one = transactions.find_or_make(tag, 1);
  one->begin(10, false, OpenTable::kNoRef);
  auto* two = transactions.find_or_make(tag, 3);
  EXPECT_TRUE(own != one && own != two && one != two);
  EXPECT_EQ(transactions.find_or_make(tag, 1), one);
  two->begin(20, false, OpenTable::kNoRef);
  EXPECT_EQ(transactions.close(tag, 1).moment, 10U);
  EXPECT_EQ(transactions.find_or_make(tag, 5), one);  // the closed one is reused
  one->begin(30, false, OpenTable::kNoRef);
  EXPECT_EQ(transactions.close(tag, 1).moment, 0U);
  EXPECT_EQ(transactions.close(tag, 3).moment, 20U);
  EXPECT_EQ(transactions.find_or_make(tag), own);
}

TEST_F(OpenByNameTest, KeepAnyNumberOfTags) {
  for (int i = 0; i < 1000; ++i)
    transactions.find_or_make(intern_tag("many " + std::to_string(i)))
        ->begin(static_cast<std::uint64_t>(i + 1), false, OpenTable::kNoRef);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(transactions.close(intern_tag("many " + std::to_string(i))).moment,
              static_cast<std::uint64_t>(i + 1));
}

TEST_F(OpenByNameTest, AReplaceableOneStopsNobodyAndCanStillBeClosed) {
  auto* slot = transactions.find_or_make(intern_tag("replaceable"));
  slot->begin(300, true, OpenTable::kNoRef);
  EXPECT_TRUE(slot->is_open());
  EXPECT_FALSE(slot->blocks_begin());
  EXPECT_EQ(slot->close().moment, 300u);
}

TEST_F(OpenByNameTest, OfAllOwnersStayOpenUntilEachIsClosed) {
  const Tag* tag = intern_tag("left open");
  for (Moment begun = 10; begun <= 50; begun += 10) {
    auto* own = transactions.find_or_make(tag);
    EXPECT_FALSE(own->is_open());
    own->begin(begun, false, OpenTable::kNoRef);
    EXPECT_EQ(transactions.find_or_make(tag), own);
    transactions.orphan();
  }
  Moment sum = 0;
  for (int i = 0; i < 5; ++i) sum += transactions.close(tag).moment;
  EXPECT_EQ(sum, 150U);
  EXPECT_EQ(transactions.close(tag).moment, 0U);
}

TEST_F(OpenByNameTest, ASlotThatWasLeftOpenIsUsedAgainOnceItIsClosed) {
  const Tag* tag = intern_tag("left open, then closed");
  auto* left = transactions.find_or_make(tag);
  left->begin(10, false, OpenTable::kNoRef);
  transactions.orphan();
  auto* own = transactions.find_or_make(tag);
  EXPECT_NE(own, left);
  left->close();
  EXPECT_EQ(transactions.find_or_make(tag), own);
  own->begin(20, false, OpenTable::kNoRef);
  transactions.orphan();
  EXPECT_EQ(transactions.find_or_make(tag), left);
}

TEST_F(OpenByNameTest, AsManyAsAreKeptStayOpenAndTheFirstIsForgotten) {
  const Tag* tag = intern_tag("left open without end");
  for (std::size_t i = 1; i <= OpenByName::kMostOrphans + 1; ++i) {
    auto* own = transactions.find_or_make(tag);
    EXPECT_FALSE(own->is_open());
    own->begin(i, false, OpenTable::kNoRef);
    transactions.orphan();
  }
  std::size_t closed = 0;
  for (Moment begun; (begun = transactions.close(tag).moment) != 0; ++closed) EXPECT_NE(begun, 1U);
  EXPECT_EQ(closed, OpenByName::kMostOrphans);
}

}  // namespace
}  // namespace pcp::trace::client
