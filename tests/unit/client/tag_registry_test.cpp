// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tags/tag_registry.hpp"

#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

TEST(TagRegistry, KeepsEveryByteOfAName) {
  const std::string name = "\x01 \xff\t\"" + std::string(249, 'x');
  ASSERT_EQ(name.size(), 254u);
  EXPECT_EQ(name_of(*intern_tag(name)), name);
  EXPECT_STREQ(intern_tag(name)->text(), name.c_str());
}

TEST(TagRegistry, GivesAllThreadsTheSameTags) {
  constexpr int kThreads = 8;
  constexpr int kNames = 500;
  std::vector<std::vector<const Tag*>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < kNames; ++n)
        seen[static_cast<std::size_t>(t)].push_back(intern_tag("shared " + std::to_string(n)));
    });
  for (auto& thread : threads) thread.join();
  for (const auto& each : seen) EXPECT_EQ(each, seen[0]);
  std::set<std::uint32_t> ids;
  for (const Tag* tag : seen[0]) ids.insert(tag->id);
  EXPECT_EQ(ids.size(), std::size_t{kNames});
}

TEST(TagRegistry, CountsLabelsOfANameByWhoeverMakesThem) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 1500; ++i) intern_tag("labelled{i=" + std::to_string(i) + "}");
    });
  for (auto& thread : threads) thread.join();
  const Tag* bare = intern_tag("labelled");
  const std::uint32_t sets = bare->label_sets;
  EXPECT_GE(sets, 1000u);
  EXPECT_LT(sets, 1000u + kThreads);  // at the limit each thread may be making one more
  int found = 0;
  for (int i = 0; i < 1500; ++i)
    found += intern_tag("labelled{i=" + std::to_string(i) + "}") != bare ? 1 : 0;
  EXPECT_EQ(found, static_cast<int>(sets));
  EXPECT_EQ(name_of(*intern_tag("labelled{no labels}")), "labelled{no labels}");
}

void expect_one_tag_beyond_the_limit() {
  for (std::uint32_t i = 0; i < kMaxTags; ++i) intern_tag("invented " + std::to_string(i));
  const Tag* beyond = intern_tag("one too many");
  EXPECT_TRUE(has_folded_labels());
  EXPECT_EQ(name_of(*beyond), "(overflow)");
  EXPECT_EQ(intern_tag("another one"), beyond);
  EXPECT_EQ(name_of(*intern_tag("invented 0")), "invented 0");
  EXPECT_LT(beyond->id, kMaxTags);
  EXPECT_EQ(name_of(*intern_tag("invented 0{a=1}")), "invented 0");
  EXPECT_EQ(intern_tag("one too many{a=1}"), beyond);
}

// In a process of its own: no tag is ever freed.
TEST(TagRegistry, SharesOneTagAmongAllNamesBeyondTheLimit) {
  EXPECT_EXIT((expect_one_tag_beyond_the_limit(), std::_Exit(HasFailure() ? 1 : 0)),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pcp::trace::client
