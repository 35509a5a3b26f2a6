// SPDX-License-Identifier: LGPL-2.1-or-later
// The buckets of one tag, which are an array without the numbers of their intervals.
#include "collector/engine/window_sums.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

constexpr std::size_t kMost = 12;

TEST(WindowBuckets, AWorkingOneThatIsTooOldIsForgotten) {
  WindowBuckets buckets;
  buckets.working().add(30);
  buckets.advance(3, 0, kMost);
  buckets.working().add(40);
  buckets.advance(4, 5, kMost);
  EXPECT_TRUE(buckets.empty());
}

// Intervals are completed one by one or after a gap of any length; late values come for any
// interval of the window, also before all others.
TEST(WindowBuckets, AreLikeAMap) {
  std::mt19937 random(1);
  const auto upto = [&](unsigned most) { return static_cast<int>(random() % (most + 1)); };
  WindowBuckets buckets;
  std::map<std::int64_t, std::vector<double>> expected;
  std::int64_t interval = -20;
  for (int step = 0; step < 20'000; ++step) {
    const std::int64_t oldest = interval + 1 - static_cast<int>(kMost);
    const std::uint64_t completed = buckets.total_of_completed().count;
    for (int i = upto(2); i > 0; --i) {
      buckets.working().add(step);
      expected[interval].push_back(step);
    }
    ASSERT_EQ(buckets.empty(), expected.empty()) << step;
    ASSERT_EQ(buckets.total_of_completed().count, completed);
    buckets.advance(interval, oldest, kMost);
    ASSERT_EQ(buckets.working().count, 0u);
    expected.erase(expected.begin(), expected.lower_bound(oldest));
    for (int i = upto(3) - 2; i > 0; --i) {
      const std::int64_t late = oldest + upto(kMost - 1);
      buckets.completed(late, kMost).add(-step);
      expected[late].push_back(-step);
    }
    ASSERT_EQ(buckets.empty(), expected.empty()) << step;
    ASSERT_LE(buckets.size(), kMost + 1);
    std::vector<double> all;
    for (const auto& [at, values] : expected) all.insert(all.end(), values.begin(), values.end());
    const WindowSums total = buckets.total_of_completed();
    ASSERT_EQ(total.count, all.size()) << step;
    if (!all.empty()) {
      ASSERT_EQ(total.min, *std::min_element(all.begin(), all.end()));
      ASSERT_EQ(total.max, *std::max_element(all.begin(), all.end()));
    }
    for (const auto& [at, values] : expected) {
      ASSERT_EQ(buckets.completed(at, kMost).count, values.size()) << at;
      ASSERT_EQ(buckets.completed(at, kMost).sum,
                std::accumulate(values.begin(), values.end(), 0.0));
    }
    interval += upto(9) == 0 ? upto(30) + 1 : 1;
  }
}

}  // namespace
}  // namespace pcp::trace::agent
