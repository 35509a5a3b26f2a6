// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "command/otlp/exponential_histogram.hpp"
#include "support/histograms.hpp"

namespace pcp::trace::command::otlp {
namespace {

// The geometric middle of the bucket with a quantile, as a server computes it. Requires: positive.
double quantile(const ExponentialHistogram& of, double q) {
  double rest = q * static_cast<double>(of.total - 1) + 1;
  std::size_t i = 0;
  for (; rest > static_cast<double>(of.positive.counts[i]); ++i)
    rest -= static_cast<double>(of.positive.counts[i]);
  return std::exp2(std::ldexp(of.positive.offset + static_cast<double>(i) + 0.5, -of.scale));
}

TEST(ExponentialHistogram, ItsQuantilesAreWithinTheStatedError) {
  std::mt19937 random(1);
  std::lognormal_distribution<> durations(-5, 1.5);
  std::vector<double> values(20'001);
  std::generate(values.begin(), values.end(), [&] { return durations(random); });
  const ExponentialHistogram made = exponential(histogram_of(values));
  EXPECT_EQ(made.scale, 5);
  EXPECT_EQ(made.total, values.size());
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  EXPECT_NEAR(made.sum / sum, 1, 0.016);
  for (const double q : {0.01, 0.5, 0.9, 0.95, 0.99, 0.999}) {
    const double exact = values[static_cast<std::size_t>(q * 20'000)];
    EXPECT_NEAR(quantile(made, q) / exact, 1, 0.027) << q;
  }
}

TEST(ExponentialHistogram, HasEachSignAndZero) {
  const ExponentialHistogram made = exponential(histogram_of({-3, -3, 0, 0, 0, 5}));
  EXPECT_EQ(made.zeros, 3u);
  EXPECT_EQ(made.negative.counts, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(made.positive.counts, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(made.negative.offset, std::floor(32 * std::log2(3.03)));
  EXPECT_EQ(made.positive.offset, std::floor(32 * std::log2(5.03)));
}

// Sums of several hosts are those of their converted distributions.
TEST(ExponentialHistogram, OfASumIsTheSumOfBoth) {
  const std::vector<double> some{1, 1.5, 2, 900};
  const std::vector<double> others{1.5, 30, 900};
  Histogram both = histogram_of(some);
  both.merge(histogram_of(others));
  std::vector<double> all = some;
  all.insert(all.end(), others.begin(), others.end());
  EXPECT_EQ(exponential(both).positive.counts, exponential(histogram_of(all)).positive.counts);
}

TEST(ExponentialHistogram, IsAsCoarseAsItsSource) {
  Histogram coarse = histogram_of({1.1, 1.9, 2.5});
  coarse.coarsen_to(Histogram::kMaxCoarseness);
  const ExponentialHistogram made = exponential(coarse);
  EXPECT_EQ(made.scale, 0);
  EXPECT_EQ(made.positive.offset, 0);
  EXPECT_EQ(made.positive.counts, (std::vector<std::uint64_t>{2, 1}));
}

TEST(ExponentialHistogram, NeedsLimitedRoomForAnyValues) {
  const ExponentialHistogram made =
      exponential(histogram_of({1e-300, 1, 1e300, -1e-300, -1, -1e300}));
  EXPECT_EQ(made.scale, -1);  // 2,000 powers of two
  EXPECT_LE(made.positive.counts.size(), kMostBuckets);
  EXPECT_EQ(made.total, 6u);
  for (const auto* const buckets : {&made.positive, &made.negative}) {
    EXPECT_EQ(std::count(buckets->counts.begin(), buckets->counts.end(), 1), 3);
    EXPECT_EQ(buckets->offset, -499);  // 2^-996.6 is in the bucket of 4^-499
  }
}

TEST(ExponentialHistogram, OfNothingIsEmpty) {
  const ExponentialHistogram made = exponential(Histogram());
  EXPECT_EQ(made.total, 0u);
  EXPECT_TRUE(made.positive.counts.empty());
}

}  // namespace
}  // namespace pcp::trace::command::otlp
