// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include "collector/ingest/session.hpp"

namespace pcp::trace::agent {
namespace {

// Adds tags with these ids in this order. Expects to find each of them, and nothing else.
void expect_found(const std::vector<std::uint32_t>& ids) {
  SessionTags tags;
  for (const std::uint32_t id : ids) {
    ASSERT_EQ(tags.find(id), nullptr) << id;
    tags.add(id, "tag " + std::to_string(id));
  }
  EXPECT_EQ(tags.size(), ids.size());
  for (const std::uint32_t id : ids) {
    ASSERT_NE(tags.find(id), nullptr) << id;
    EXPECT_EQ(tags.find(id)->id, id);
    EXPECT_EQ(tags.find(id)->name, "tag " + std::to_string(id));
    EXPECT_EQ(tags.find(id)->in_engine[0], SessionTag::kUnknown);
  }
  EXPECT_EQ(tags.find(77), nullptr);
}

TEST(SessionTags, AreFoundWhateverTheIds) {
  expect_found({});
  expect_found({0, 1, 2, 3});
  expect_found({100, 101, 102});
  expect_found({5, 4, 3, 2, 1, 0});
  expect_found({1, 3, 5, 2, 4, 6});
  expect_found({10, 12, 11, 13, 15});
  expect_found({0xffffffff, 0, 1, 0xfffffffe, 0x80000000});
}

TEST(SessionTags, ShareOneTagWhereSetsOfLabelsHaveNoRoom) {
  SessionTags tags;
  tags.add(1, "a{k=1}");
  EXPECT_FALSE(tags.share_folded(2, "a"));
  tags.add_folded(7, "a");
  EXPECT_TRUE(tags.share_folded(2, "a"));
  EXPECT_TRUE(tags.share_folded(3, "a"));
  EXPECT_FALSE(tags.share_folded(4, "b"));
  tags.add(4, "a");
  for (const std::uint32_t id : {2u, 3u, 7u}) {
    ASSERT_EQ(tags.find(id), tags.find(7)) << id;
    EXPECT_TRUE(tags.find(id)->is_folded);
    EXPECT_EQ(tags.find(id)->name, "a");
  }
  EXPECT_FALSE(tags.find(1)->is_folded);
  EXPECT_FALSE(tags.find(4)->is_folded);
  EXPECT_EQ(tags.find(5), nullptr);
  EXPECT_EQ(tags.size(), 3u);
  EXPECT_EQ(tags.ids(), 5u);
}

}  // namespace
}  // namespace pcp::trace::agent
