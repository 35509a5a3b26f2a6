// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/run_distribution.hpp"

#include <gtest/gtest.h>

#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

TEST(RunDistribution, HasNotWhatCameBetweenTwoStretches) {
  RunDistribution distribution;
  distribution.take(shape(0, of_values({1, 1})), 1, true);
  distribution.take(shape(0, of_values({1, 1, 5, 5, 5})), 2, false);
  distribution.take(shape(0, of_values({1, 1, 5, 5, 5, 9})), 2, false);
  EXPECT_EQ(distribution.finish()->histogram.total(), 3U);
}

TEST(RunDistribution, HasAllOfWhatBeginsAnewInAStretch) {
  RunDistribution distribution;
  distribution.take(shape(-9, of_values({1}), 5), 1, false);
  distribution.take(shape(-9, of_values({1, 2}), 7), 1, false);
  distribution.take(shape(0.5, of_values({7, 8}), 1), 1, false);
  const auto all = distribution.finish();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->histogram.total(), 3U);
  EXPECT_EQ(all->unbinned, 3U);
}

TEST(RunDistribution, IsUnknownIfOneTextWasNone) {
  RunDistribution distribution;
  distribution.take("1 17 what", 1, true);
  distribution.take(shape(0, of_values({1})), 1, true);
  EXPECT_FALSE(distribution.empty());
  EXPECT_FALSE(distribution.finish());
}

TEST(RunDistribution, KnowsSinceWhenATextCounts) {
  EXPECT_EQ(since_of("1 17 0 0 0 -"), 17U);
  for (const char* const none : {"", "1", "1 17", "1 x 0", "2 17 0 0 0 -"})
    EXPECT_EQ(since_of(none), std::nullopt) << none;
}

}  // namespace
}  // namespace pcp::trace::command
