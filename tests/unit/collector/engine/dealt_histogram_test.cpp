// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/dealt_histogram.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "support/histograms.hpp"
#include "unit/wire/hex.hpp"

namespace pcp::trace {
namespace {

TEST(DealtHistogram, GivesEachAnEvenPart) {
  Histogram whole;
  for (int i = 0; i < 1000; ++i) whole.add(i);
  for (const std::uint64_t count : {100u, 500u, 900u, 1000u}) {
    DealtHistogram values(packed(whole));
    Histogram part;
    ASSERT_TRUE(values.deal(count, part));
    EXPECT_EQ(part.total(), count);
    EXPECT_EQ(values.left(), 1000 - count);
    EXPECT_NEAR(part.quantile(0.5), 500, 20) << count;
    EXPECT_NEAR(part.quantile(0.9), 900, 30) << count;
  }
}

TEST(DealtHistogram, GivesEachValueOnce) {
  for (const unsigned receivers : {1u, 2u, 3u, 7u, 16u}) {
    for (const unsigned count : {1u, 2u, 3u, 6u, 100u, 10'000u}) {
      Histogram whole;
      for (unsigned i = 0; i < count; ++i) whole.add(std::sqrt(i % 500));
      DealtHistogram values(packed(whole));
      Histogram sum;
      for (unsigned i = 1; i <= receivers; ++i) {
        Histogram part;
        ASSERT_TRUE(values.deal(std::uint64_t{count} * i / receivers, part));
        ASSERT_EQ(part.total(), count * i / receivers - count * (i - 1) / receivers);
        sum.merge(part);
      }
      ASSERT_EQ(packed(sum), packed(whole)) << count << " to " << receivers;
    }
  }
}

// A program's values are alike in all minutes, so each part gets small and great ones.
TEST(DealtHistogram, SpreadsSingleValues) {
  Histogram whole;
  for (int i = 0; i < 64; ++i) whole.add(i);
  DealtHistogram values(packed(whole));
  for (std::uint64_t until = 8; until <= 64; until += 8) {
    Histogram part;
    for (std::uint64_t i = until - 7; i <= until; ++i) values.deal(i, part);
    EXPECT_LT(part.quantile(0), 20) << until;
    EXPECT_GT(part.quantile(1), 43) << until;
  }
}

TEST(DealtHistogram, GivesGreatCountsToTheLastValue) {
  Histogram whole;
  ASSERT_TRUE(whole.merge_packed(wire::from_hex("00 00 feffffffffffffff7f")));
  whole.add(1);
  DealtHistogram values(packed(whole));
  Histogram first;
  Histogram second;
  ASSERT_TRUE(values.deal(values.total() / 3, first));
  ASSERT_TRUE(values.deal(values.total(), second));
  EXPECT_EQ(values.left(), 0u);
  first.merge(second);
  EXPECT_EQ(packed(first), packed(whole));
}

TEST(DealtHistogram, LeavesWhatTheReceiverCannotCount) {
  Histogram full;
  ASSERT_TRUE(full.merge_packed(wire::from_hex("00 00 feffffffffffffffff01")));
  ASSERT_EQ(full.total(), Histogram::kMaxTotal);
  Histogram one;
  one.add(1);
  DealtHistogram values(packed(one));
  EXPECT_FALSE(values.deal(1, full));
  EXPECT_EQ(values.left(), 1u);
  EXPECT_EQ(full.total(), Histogram::kMaxTotal);
}

TEST(DealtHistogram, MakesTheReceiverAsCoarse) {
  Histogram coarse;
  for (int i = 1; i < 100; ++i) coarse.add(i);
  coarse.coarsen();
  coarse.coarsen();
  DealtHistogram values(packed(coarse));
  Histogram all;
  all.coarsen();
  ASSERT_TRUE(values.deal(values.total(), all));
  EXPECT_EQ(packed(all), packed(coarse));
}

}  // namespace
}  // namespace pcp::trace
