// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "mmv/mmv_totals.hpp"
#include "mmv/mmv_window.hpp"
#include "record/tag_registry.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kPart = 1000;

TEST(MmvWindow, HasNothingAtFirst) {
  const MmvWindow::Values none = MmvWindow().values(kPart);
  EXPECT_TRUE(std::isnan(none.min) && std::isnan(none.max) && std::isnan(none.quantiles[0]));
}

TEST(MmvWindow, OfOneValueHasItEverywhere) {
  MmvWindow window;
  window.add(1.01, kPart);
  const MmvWindow::Values values = window.values(kPart);
  EXPECT_EQ(values.min, 1.01);
  EXPECT_EQ(values.max, 1.01);
  for (const double quantile : values.quantiles) EXPECT_EQ(quantile, 1.01);
}

TEST(MmvWindow, HasExactExtremaAndPercentilesWithinTwoPercent) {
  MmvWindow window;
  for (int i = 1; i <= 1000; ++i) window.add(i, kPart + static_cast<std::uint64_t>(i % 5));
  const MmvWindow::Values values = window.values(kPart + 4);
  EXPECT_EQ(values.min, 1);
  EXPECT_EQ(values.max, 1000);
  const double truth[] = {500, 900, 950, 990, 999};
  for (std::size_t i = 0; i < std::size(truth); ++i)
    EXPECT_NEAR(values.quantiles[i], truth[i], truth[i] * 0.02);
}

TEST(MmvWindow, MovesOn) {
  MmvWindow window;
  window.add(1, kPart);
  window.add(2, kPart + 4);
  EXPECT_EQ(window.values(kPart + 4).min, 1);
  EXPECT_EQ(window.values(kPart + 5).min, 2);
  EXPECT_TRUE(window.has_values(kPart + 8));
  EXPECT_FALSE(window.has_values(kPart + 9));
  EXPECT_TRUE(std::isnan(window.values(kPart + 9).max));
  window.add(3, kPart + 10);  // in the memory of the first part
  EXPECT_EQ(window.values(kPart + 10).min, 3);
}

TEST(MmvWindow, HasNoPercentilesOfValuesThatWereAddedUp) {
  MmvWindow window;
  Delta delta;
  delta.add(3);
  delta.add(7);
  window.add(delta, kPart);
  const MmvWindow::Values values = window.values(kPart);
  EXPECT_EQ(values.min, 3);
  EXPECT_EQ(values.max, 7);
  EXPECT_TRUE(std::isnan(values.quantiles[0]));
}

struct MmvTotalsTest : testing::Test {
  MmvTotals totals;
  std::uint64_t now = kPart * MmvWindow::kPartNs;

  void add(const std::string& tag, double value, RecordKind kind) {
    const std::vector<Pending::Fetched> one{{nullptr, {intern_tag(tag), value, kind}}};
    totals.add(one, now);
  }
};

TEST_F(MmvTotalsTest, AreApartForEachTagAndType) {
  add("mmv a", 3, RecordKind::Observe);
  add("mmv a", 0, RecordKind::Point);
  add("mmv b", 0, RecordKind::Point);
  add("mmv b", 0, RecordKind::Point);
  ASSERT_EQ(totals.instances().size(), 3U);
  EXPECT_EQ(totals.instances()[0].calls.sum, 3);
  EXPECT_EQ(totals.instances()[2].calls.count, 2U);
}

TEST_F(MmvTotalsTest, HaveWhatWasReportedOfACounterAndWhatWasAddedToIt) {
  add("mmv counter", 5, RecordKind::Counter);
  add("mmv counter", 2, RecordKind::Add);
  add("mmv counter", 4, RecordKind::Add);
  ASSERT_EQ(totals.instances().size(), 1U);
  EXPECT_EQ(totals.instances()[0].calls.last, 5);
  EXPECT_EQ(totals.instances()[0].added.sum, 6);
}

TEST_F(MmvTotalsTest, TakeOneInstanceOfATypeForAllTagsBeyondAThousand) {
  for (std::size_t i = 0; i < MmvTotals::kMostInstances + 10; ++i)
    add("mmv " + std::to_string(i), 0, RecordKind::Point);
  add("mmv beyond", 1, RecordKind::Observe);
  add("mmv 5", 0, RecordKind::Point);
  ASSERT_EQ(totals.instances().size(), MmvTotals::kMostInstances + 2);
  const MmvInstance& points = totals.instances()[MmvTotals::kMostInstances];
  EXPECT_EQ(points.tag, nullptr);
  EXPECT_EQ(points.calls.count, 10U);
  EXPECT_EQ(totals.instances()[5].calls.count, 2U);
}

TEST_F(MmvTotalsTest, ComputeTheirWindowsFewAtATimeAndAgainWhenTheyMoveOn) {
  for (int i = 0; i < 100; ++i) add("mmv " + std::to_string(i), 1, RecordKind::Observe);
  const auto computed = [this] {
    int count = 0;
    for (const MmvInstance& each : totals.instances())
      count += std::isnan(each.in_window.max) ? 0 : 1;
    return count;
  };
  int calls = 0;
  do {
    const int before = computed();
    totals.refresh(now);
    EXPECT_LT(computed() - before, 50);
    ++calls;
  } while (totals.next_refresh_ns(now) < now + MmvWindow::kPartNs / 2);
  EXPECT_EQ(computed(), 100);
  EXPECT_GT(calls, 2);
  EXPECT_EQ(totals.next_refresh_ns(now), now + MmvWindow::kPartNs);
  now += MmvWindow::kParts * MmvWindow::kPartNs;
  for (int i = 0; i < calls; ++i) totals.refresh(now);
  EXPECT_EQ(computed(), 0);
  EXPECT_EQ(totals.next_refresh_ns(now), kNever);
}

}  // namespace
}  // namespace pcp::trace::client
