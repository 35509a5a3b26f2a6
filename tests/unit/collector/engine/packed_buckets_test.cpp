// SPDX-License-Identifier: LGPL-2.1-or-later
// A tag's packed distributions, one behind the other.
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "collector/engine/window_histograms.hpp"

namespace pcp::trace::agent {
namespace {

using Contents = std::map<std::int64_t, std::string>;

// Gives the contents, and checks their order.
Contents contents_of(const PackedBuckets& buckets) {
  Contents contents;
  buckets.for_each([&](std::int64_t interval, std::string_view packed) {
    EXPECT_TRUE(contents.empty() || contents.rbegin()->first < interval);
    contents[interval] = packed;
  });
  return contents;
}

TEST(PackedBuckets, GiveMemoryBack) {
  PackedBuckets buckets;
  EXPECT_EQ(buckets.memory_bytes(), 0u);
  for (int i = 0; i < 12; ++i) buckets.put(i, std::string(100, 'x'));
  const std::size_t full = buckets.memory_bytes();
  EXPECT_GE(full, 12 * 100u);
  EXPECT_LE(full, 12 * 130u);
  buckets.drop_before(9);
  EXPECT_LE(buckets.memory_bytes(), full / 2);
  buckets.drop_before(12);
  EXPECT_EQ(buckets.memory_bytes(), 0u);
}

TEST(PackedBuckets, AreLikeAMap) {
  std::mt19937 random(1);
  const auto upto = [&](unsigned most) { return static_cast<int>(random() % (most + 1)); };
  PackedBuckets buckets;
  Contents expected;
  for (int step = 0; step < 5000; ++step) {
    const int interval = step / 10 - upto(12);
    if (upto(9) == 0) {
      buckets.drop_before(interval);
      expected.erase(expected.begin(), expected.lower_bound(interval));
    } else {
      const std::string packed(static_cast<std::size_t>(1 + upto(40)),
                               static_cast<char>('a' + upto(25)));
      buckets.put(interval, packed);
      expected[interval] = packed;
    }
    ASSERT_EQ(contents_of(buckets), expected);
    const auto found = expected.find(interval - 5);
    ASSERT_EQ(buckets.find(interval - 5), found == expected.end() ? "" : found->second);
  }
}

}  // namespace
}  // namespace pcp::trace::agent
