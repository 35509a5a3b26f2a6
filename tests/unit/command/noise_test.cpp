// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/noise.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

using Random = std::mt19937_64;
using Parts = std::vector<Part>;

// The chance of a difference of so many standard deviations.
double chance(double t, double freedom) { return chance_of({t, 1, freedom}, {0, 0, 1}); }

TEST(Noise, HasTheChancesOfStudentsTable) {
  EXPECT_NEAR(chance(12.706, 1), 0.05, 1e-4);
  EXPECT_NEAR(chance(2.571, 5), 0.05, 1e-4);
  EXPECT_NEAR(chance(2.228, 10), 0.05, 1e-4);
  EXPECT_NEAR(chance(-4.587, 10), 0.001, 1e-5);
  EXPECT_NEAR(chance(6.869, 5), 0.001, 1e-5);
  EXPECT_NEAR(chance(1.98, 119), 0.05, 1e-3);
}

TEST(Noise, OfTwoEqualVariancesHasTheFreedomOfBoth) {
  EXPECT_NEAR(chance_of({2.228 * std::sqrt(2), 1, 5}, {0, 1, 5}), 0.05, 1e-4);
}

TEST(Noise, IsNoneWhereNothingVaries) {
  EXPECT_EQ(chance_of({7, 0, 5}, {8, 0, 5}), 0);
  EXPECT_EQ(chance_of({7, 0, 5}, {7, 0, 5}), 1);
  EXPECT_EQ(chance_of({0.1 + 0.2, 0, 5}, {0.3, 0, 5}), 1);
  EXPECT_EQ(chance_of({7, 1, 5}, {7, 1, 5}), 1);
}

// Twelve values of 1 to 12, so 6.5 on average. Neighbours differ by 1: 11 / 2 * 12 / 11 = 6 for the
// sum of all. Three stretches of four differ from their mean by 16, 0 and 16: 512 * 3 / 2 = 768.
TEST(Noise, OfARatioCountsASlowDriftThreefold) {
  Parts parts;
  for (int i = 1; i <= 12; ++i) parts.push_back({2.0 * i, 2});
  const std::optional<Estimate> ratio = ratio_of(parts);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 6.5);
  EXPECT_DOUBLE_EQ(ratio->variance, (6 + 3 * (768 - 6)) / 144.0);
  EXPECT_EQ(ratio->freedom, 5);
}

// Each stretch of two intervals is like the others, so only neighbours differ, by 2.
TEST(Noise, OfARatioWithoutADriftIsThatOfNeighbours) {
  Parts parts;
  for (int i = 0; i < 12; ++i) parts.push_back({i % 2 == 0 ? 1.0 : 3.0, 1});
  EXPECT_DOUBLE_EQ(ratio_of(parts)->variance, 11 * 4 / 2.0 * 12 / 11 / 144);
}

TEST(Noise, IsUnknownOfTooFewParts) {
  EXPECT_FALSE(ratio_of(Parts(9, {1, 1})));
  EXPECT_TRUE(ratio_of(Parts(10, {1, 1})));
  EXPECT_FALSE(ratio_of(Parts(10, {1, 0})));
  EXPECT_FALSE(mean_of(std::vector<double>{1}));
}

TEST(Noise, OfRunsIsTheirSpread) {
  const std::optional<Estimate> mean = mean_of(std::vector<double>{1, 2, 3});
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->value, 2);
  EXPECT_DOUBLE_EQ(mean->variance, 1.0 / 3);
  EXPECT_EQ(mean->freedom, 2);
}

TEST(Noise, LimitsTheShareOfFalseAlarms) {
  EXPECT_EQ(limit_of({0.03, 0.5, 0.01, 0.02}), 0.03);
  EXPECT_LT(limit_of({0.04, 0.5}), 0);
  EXPECT_EQ(limit_of({0.04}), 0.04);
  EXPECT_EQ(limit_of({0, 0.9, 0.9}), 0);
  EXPECT_LT(limit_of({}), 0);
}

// The means of equal runs, which go through `next` to the next interval.
Parts run_of(std::size_t intervals, const std::function<double()>& next) {
  Parts parts;
  for (std::size_t i = 0; i < intervals; ++i) parts.push_back({100 * next(), 100});
  return parts;
}

// The share of pairs of equal runs with a sign, if each pair has so many figures.
double false_alarms(std::size_t figures, const std::function<Parts()>& run) {
  constexpr int kPairs = 200;
  int alarms = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    std::vector<double> chances;
    for (std::size_t i = 0; i < figures; ++i)
      chances.push_back(chance_of(*ratio_of(run()), *ratio_of(run())));
    if (limit_of(chances) >= 0) ++alarms;
  }
  return static_cast<double>(alarms) / kPairs;
}

TEST(Noise, OfEqualRunsHasFewFalseAlarmsWhateverTheDistribution) {
  Random random(4711);
  std::normal_distribution<double> normal(1, 0.2);
  std::lognormal_distribution<double> skewed(0, 1);
  const std::function<double()> all[] = {[&] { return normal(random); },
                                         [&] { return skewed(random); },
                                         [&] { return random() % 20 == 0 ? 10.0 : 1.0; }};
  for (const auto& next : all)
    for (const std::size_t figures : {1U, 8U, 40U})
      EXPECT_LE(false_alarms(figures, [&] { return run_of(12, next); }), kMostFalseAlarms + 0.01)
          << figures;
}

// Slow times that last: each interval is like the one before.
TEST(Noise, OfRunsWithLongSlowTimesHasFewFalseAlarms) {
  Random random(4711);
  std::normal_distribution<double> normal(0, 1);
  for (const std::size_t intervals : {24U, 60U, 600U}) {
    const auto run = [&] {
      double level = normal(random);
      return run_of(intervals, [&] {
        level = 0.7 * level + std::sqrt(1 - 0.49) * normal(random);
        return std::exp(level / 5);
      });
    };
    for (const std::size_t figures : {1U, 8U, 40U})
      EXPECT_LE(false_alarms(figures, run), kMostFalseAlarms + 0.01)
          << intervals << " intervals, " << figures << " figures";
  }
}

// Ten intervals, which vary by a twentieth.
TEST(Noise, HidesNoRunThatIsAFifthSlower) {
  Random random(4711);
  std::normal_distribution<double> normal(1, 0.05);
  constexpr int kPairs = 1000;
  int found = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    const Parts before = run_of(10, [&] { return normal(random); });
    const Parts now = run_of(10, [&] { return 1.2 * normal(random); });
    if (limit_of({chance_of(*ratio_of(before), *ratio_of(now)), 0.5, 0.5, 0.5}) >= 0) ++found;
  }
  EXPECT_GE(found, kPairs * 8 / 10);
}

}  // namespace
}  // namespace pcp::trace::command
