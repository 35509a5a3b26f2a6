// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/imbalance.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/made_tags.hpp"

namespace pcp::trace::command {
namespace {

Tag timed(const std::string& name, double seconds) { return made_transaction(name, 1, seconds); }

TEST(Imbalance, ComparesTheGreatestTotalWithTheMeanOverTheValues) {
  const auto found = imbalances_of({timed("compute{rank=0}", 1), timed("compute{rank=1}", 2),
                                    timed("compute{rank=7}", 9), timed("other", 100)});
  ASSERT_EQ(found.size(), 1U);
  const Imbalance& its = found[0];
  EXPECT_EQ(std::tie(its.name, its.label, its.count), std::tuple("compute", "rank", 3U));
  EXPECT_EQ(std::tie(its.least, its.least_value, its.mean), std::tuple(1, "0", 4));
  EXPECT_EQ(std::tuple(its.greatest(), its.ratio()), std::tuple(9, 2.25));
  EXPECT_EQ(its.values.front().value, "7");
}

TEST(Imbalance, AddsUpTheOtherLabels) {
  const auto found = imbalances_of({timed("a{rank=0;step=1}", 1), timed("a{rank=0;step=2}", 2),
                                    timed("a{rank=1;step=1}", 5), timed("a{rank=1;step=2}", 5)});
  ASSERT_EQ(found.size(), 2U);  // the greater loss comes first
  EXPECT_EQ(std::tuple(found[0].label, found[0].greatest(), found[0].least),
            std::tuple("rank", 10, 3));
  EXPECT_EQ(std::tuple(found[1].label, found[1].greatest()), std::tuple("step", 7));
}

TEST(Imbalance, ThatIsUnknownIsNone) {
  Tag unknown = timed("a{x=1}", 1);
  unknown.sum.reset();
  Tag infinite = timed("a{x=1}", 1);
  infinite.nonfinite = 1;
  for (const auto& tags : {std::vector{unknown, timed("a{x=2}", 1)},
                           {infinite, timed("a{x=2}", 1)},
                           {timed("a{x=1}", 1)},
                           {timed("a{x=1}", 0), timed("a{x=2}", 0)},
                           {timed("a{x=1}", -1), timed("a{x=2}", 3)}})
    EXPECT_TRUE(imbalances_of(tags).empty()) << tags[0].sum.value_or(0);
}

TEST(Imbalance, NamesTheGreatestHundredValues) {
  std::vector<Tag> tags;
  for (int i = 0; i < 1000; ++i) tags.push_back(timed("a{x=" + std::to_string(i) + "}", i));
  const auto found = imbalances_of(tags);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 1000U);
  EXPECT_EQ(found[0].values.size(), 100U);
  EXPECT_EQ(found[0].values.front().value, "999");
  EXPECT_EQ(found[0].least, 0);
}

}  // namespace
}  // namespace pcp::trace::command
