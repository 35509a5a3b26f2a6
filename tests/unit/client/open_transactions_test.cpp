// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/open_transactions.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

// They are never destroyed, in the library either; a leak checker shall still find them.
OpenTransactions& make_transactions() {
  static auto& kept = *new std::vector<OpenTransactions*>;
  return *kept.emplace_back(new OpenTransactions);
}

TEST(OpenTransactions, RememberWhenEachTagBegan) {
  OpenTransactions& transactions = make_transactions();
  auto* one = transactions.find_or_make(intern_tag("open one"));
  auto* two = transactions.find_or_make(intern_tag("open two"));
  one->begin(100, false, OpenTable::kNowhere);
  two->begin(200, false, OpenTable::kNowhere);
  EXPECT_EQ(transactions.find(intern_tag("open one")), one);
  EXPECT_TRUE(one->blocks_begin());
  EXPECT_EQ(one->close().begun, 100u);
  EXPECT_EQ(one->close().begun, 0u);
  EXPECT_FALSE(one->is_open());
  EXPECT_EQ(two->close().begun, 200u);
}

TEST(OpenTransactions, OfNamesWithoutATagOfTheirOwnAreToldApartAndUseClosedOnesAgain) {
  OpenTransactions& transactions = make_transactions();
  const Tag* tag = intern_tag("stands for others");
  auto* own = transactions.find_or_make(tag);
  auto* one = transactions.find_or_make(tag, 1);
  one->begin(10, false, OpenTable::kNowhere);
  auto* two = transactions.find_or_make(tag, 3);
  EXPECT_TRUE(own != one && own != two && one != two);
  EXPECT_EQ(transactions.find(tag, 1), one);
  two->begin(20, false, OpenTable::kNowhere);
  EXPECT_EQ(transactions.find(tag, 1)->close().begun, 10U);
  EXPECT_EQ(transactions.find_or_make(tag, 5), one);  // used again
  EXPECT_EQ(transactions.find(tag, 1), nullptr);
  EXPECT_EQ(transactions.find(tag, 3)->close().begun, 20U);
  EXPECT_EQ(transactions.find(tag), own);
}

TEST(OpenTransactions, KeepAnyNumberOfTags) {
  OpenTransactions& transactions = make_transactions();
  for (int i = 0; i < 1000; ++i)
    transactions.find_or_make(intern_tag("many " + std::to_string(i)))
        ->begin(static_cast<std::uint64_t>(i + 1), false, OpenTable::kNowhere);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(transactions.find(intern_tag("many " + std::to_string(i)))->close().begun,
              static_cast<std::uint64_t>(i + 1));
}

TEST(OpenTransactions, AReplaceableOneStopsNobodyAndCanStillBeClosed) {
  OpenTransactions& transactions = make_transactions();
  auto* slot = transactions.find_or_make(intern_tag("replaceable"));
  slot->begin(300, true, OpenTable::kNowhere);
  EXPECT_TRUE(slot->is_open());
  EXPECT_FALSE(slot->blocks_begin());
  EXPECT_EQ(slot->close().begun, 300u);
}

TEST(OpenTransactions, OrphansStayOpenAndBecomeReplaceable) {
  OpenTransactions& transactions = make_transactions();
  auto* open = transactions.find_or_make(intern_tag("orphan"));
  auto* closed = transactions.find_or_make(intern_tag("not open"));
  open->begin(400, false, OpenTable::kNowhere);
  transactions.orphan();
  EXPECT_FALSE(open->blocks_begin());
  EXPECT_EQ(open->close().begun, 400u);
  EXPECT_FALSE(closed->is_open());
}

}  // namespace
}  // namespace pcp::trace::client
