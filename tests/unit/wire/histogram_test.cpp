// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "support/histograms.hpp"

namespace pcp::trace {
namespace {

// The definition that quantile() approximates.
double exact_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

void expect_close_quantiles(const std::vector<double>& values) {
  const Histogram histogram = histogram_of(values);
  for (const double q : {0.0, 0.01, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const double exact = exact_quantile(values, q);
    EXPECT_LE(std::abs(histogram.quantile(q) - exact), 0.016 * std::abs(exact)) << q;
    const bins::Edges edges = histogram.quantile_edges(q);
    EXPECT_TRUE(edges.least <= exact && exact <= edges.greatest)
        << q << ": " << edges.least << " <= " << exact << " <= " << edges.greatest;
  }
}

template <typename Distribution>
std::vector<double> draw(Distribution distribution, std::size_t count = 20'000) {
  std::mt19937_64 random(42);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

TEST(Histogram, IsNowhereMoreThan2PercentOff) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (int exponent = -1022; exponent <= 1023; ++exponent) {
    for (int i = 0; i < 20; ++i) {
      const double value = std::ldexp(mantissa(random), exponent);
      ASSERT_NEAR(histogram_of({value}).quantile(0.5), value, 0.016 * value);
      ASSERT_NEAR(histogram_of({-value}).quantile(0.5), -value, 0.016 * value);
    }
  }
}

TEST(Histogram, TakesTheEndsOfTheRangeAndCountsSubnormalNumbersAsZero) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {Limits::max(), Limits::lowest(), Limits::min(), -Limits::min()})
    EXPECT_NEAR(histogram_of({value}).quantile(1) / value, 1, 0.016);
  for (const double value : {0.0, -0.0, Limits::denorm_min(), -Limits::denorm_min()})
    EXPECT_EQ(histogram_of({value}).quantile(0.5), 0.0);
}

TEST(Histogram, IsCloseForManyDistributions) {
  expect_close_quantiles(draw(std::uniform_real_distribution<double>(0, 1)));
  expect_close_quantiles(draw(std::uniform_real_distribution<double>(-5, 5)));
  expect_close_quantiles(draw(std::exponential_distribution<double>(1000)));
  expect_close_quantiles(draw(std::lognormal_distribution<double>(-7, 0.5)));
  expect_close_quantiles(draw(std::lognormal_distribution<double>(0, 20)));
  expect_close_quantiles(draw(std::normal_distribution<double>(0, 1e-6)));
  expect_close_quantiles(draw(std::cauchy_distribution<double>(0, 1e9)));
  expect_close_quantiles(std::vector<double>(1000, 0.1));
  expect_close_quantiles({1e-300, 1, 1e300});
  expect_close_quantiles({3, -1, 0, -2, 1});
}

TEST(Histogram, FindsTheRankThatSplitsTheValues) {
  Histogram histogram;
  for (int i = 0; i < 99; ++i) histogram.add(1);
  histogram.add(1000);
  EXPECT_NEAR(histogram.quantile(0.99), 1, 0.02);
  EXPECT_NEAR(histogram.quantile(0.991), 1000, 20);
  EXPECT_NEAR(histogram.quantile(-1), 1, 0.02);
  EXPECT_NEAR(histogram.quantile(2), 1000, 20);
}

TEST(Histogram, CountsMoreValuesThanDoublesCan) {
  Histogram histogram;
  histogram.add(1);
  for (int i = 0; i < 60; ++i) {
    const Histogram copy = histogram;
    histogram.merge(copy);
  }
  histogram.add(2);
  EXPECT_EQ(histogram.total(), (std::uint64_t{1} << 60) + 1);
  EXPECT_NEAR(histogram.quantile(0.999), 1, 0.02);
  EXPECT_NEAR(histogram.quantile(1), 2, 0.04);
}

// The bytes of a histogram with `count` times this value.
std::string packed_times(std::uint64_t count, double value) {
  std::string bytes = packed(histogram_of({value}));
  bytes.pop_back();  // the count, which is one
  for (count <<= 1; count >= 0x80; count >>= 7) bytes += static_cast<char>(count | 0x80);
  return bytes += static_cast<char>(count);
}

constexpr std::uint64_t kHalfWord = 1 << 16;

TEST(Histogram, KeepsCountsOfEverySizeWhenMerged) {
  for (const std::uint64_t count : {kHalfWord - 1, kHalfWord, kHalfWord * 3, kHalfWord << 32}) {
    Histogram histogram, other;
    histogram.add(1);
    ASSERT_TRUE(histogram.merge_packed(packed_times(count, 1)));
    EXPECT_EQ(packed(histogram), packed_times(count + 1, 1));
    ASSERT_TRUE(
        histogram.merge_packed(packed_times(count, 1000)));  // after the first count's carry
    EXPECT_EQ(histogram.quantile(0.5), histogram.quantile(0));
    EXPECT_NEAR(histogram.quantile(0.6), 1000, 20);
    ASSERT_TRUE(other.merge_packed(packed_times(count, 1)));
    ASSERT_TRUE(other.merge_packed(packed_times(count, 1000)));
    other.merge(histogram);
    Histogram expected;
    ASSERT_TRUE(expected.merge_packed(packed_times(2 * count, 1000)));
    ASSERT_TRUE(expected.merge_packed(packed_times(2 * count + 1, 1)));
    EXPECT_EQ(packed(other), packed(expected));
    other.clear();
    EXPECT_TRUE(other.merge_packed(packed_times(1, 1)));
    EXPECT_EQ(packed(other), packed_times(1, 1));
  }
}

TEST(Histogram, KeepsCountsOfEverySizeWhenAdded) {
  Histogram histogram;
  for (std::uint64_t i = 0; i < 2 * kHalfWord; ++i) histogram.add(1);
  EXPECT_EQ(packed(histogram), packed_times(2 * kHalfWord, 1));
  histogram.add(1);
  EXPECT_EQ(packed(histogram), packed_times(2 * kHalfWord + 1, 1));
}

TEST(Histogram, KeepsCountsOfEverySizeWhenCoarsened) {
  for (const std::uint64_t count : {kHalfWord / 2, kHalfWord - 1, kHalfWord, kHalfWord << 32}) {
    Histogram joined, other;
    for (const double value : {1.0, 1.04, 1.97, -8.0}) {  // the first two in neighbouring bins
      ASSERT_TRUE(joined.merge_packed(packed_times(count, value)));
      other.coarsen();
      ASSERT_TRUE(other.merge_packed(packed_times(count, value)));
    }
    while (joined.coarseness() < other.coarseness()) joined.coarsen();
    EXPECT_EQ(packed(joined), packed(other)) << count;
    while (joined.coarseness() < Histogram::kMaxCoarseness) joined.coarsen();
    std::uint64_t total = 0;
    ASSERT_TRUE(Histogram::read_packed_total(packed(joined), total));
    EXPECT_EQ(total, 4 * count);
    EXPECT_EQ(joined.quantile(0.25), joined.quantile(0));
    EXPECT_EQ(joined.quantile(0.26), joined.quantile(1));
  }
}

TEST(Histogram, PacksFullChunksLikeOthers) {
  for (const int most : {1, 63, 64}) {  // a count of 64 takes two bytes
    Histogram all, each;
    for (int bin = 0; bin < 3 * 32; ++bin)
      for (int i = 0; i < (bin == 40 ? most : 1); ++i)
        all.add(std::ldexp(1 + bin % 32 / 32.0, bin / 32));
    ASSERT_TRUE(each.merge_packed(packed(all)));
    EXPECT_EQ(packed(each), packed(all));
    EXPECT_EQ(packed(all).size(), 4u + 3 * 32 + (most == 64 ? 1 : 0))
        << most;  // "first" takes three
    EXPECT_EQ(all.total(), 3u * 32 + static_cast<unsigned>(most) - 1);
  }
}

TEST(Histogram, MergedIsTheSameAsAddedWhicheverIsCoarser) {
  const auto values = draw(std::normal_distribution<double>(1, 2), 2000);
  for (const auto& [of_first, of_second] : {std::pair(0u, 0u), {0u, 2u}, {2u, 0u}}) {
    Histogram all = histogram_of({}, std::max(of_first, of_second));
    Histogram first = histogram_of({}, of_first);
    Histogram second = histogram_of({}, of_second);
    for (std::size_t i = 0; i < values.size(); ++i) {
      all.add(values[i]);
      (i % 3 == 0 ? first : second).add(values[i]);
    }
    first.merge(second);
    EXPECT_EQ(packed(first), packed(all)) << of_first << ' ' << of_second;
    EXPECT_EQ(first.total(), all.total());
  }
}

TEST(Histogram, CoarsenedIsTheSameAsAddedCoarsely) {
  const auto values = draw(std::normal_distribution<double>(0, 1), 2000);
  Histogram after = histogram_of(values);
  for (unsigned level = 1; level <= Histogram::kMaxCoarseness; ++level) {
    Histogram before = histogram_of({}, level);
    for (const double value : values) before.add(value);
    after.coarsen();
    ASSERT_EQ(packed(before), packed(after)) << level;
    ASSERT_EQ(after.total(), values.size());
    ASSERT_EQ(after.coarseness(), level);
  }
}

TEST(Histogram, LosesHalfOfItsPrecisionWithEachCoarsening) {
  const auto values = draw(std::lognormal_distribution<double>(0, 2), 5000);
  Histogram histogram = histogram_of(values);
  for (unsigned level = 0; level <= Histogram::kMaxCoarseness; ++level) {
    const double error = bins::relative_error(level);
    EXPECT_EQ(error, std::ldexp(1.0 / 64, static_cast<int>(level)));
    for (const double q : {0.1, 0.5, 0.99}) {
      const double exact = exact_quantile(values, q);
      ASSERT_NEAR(histogram.quantile(q), exact, error * exact) << level;
    }
    histogram.coarsen();
  }
  // No coarser than one bin for a power of two.
  EXPECT_EQ(histogram.coarseness(), Histogram::kMaxCoarseness);
  EXPECT_EQ(histogram.total(), 5000u);
}

TEST(Histogram, KeepsSignsAndZeroApartHoweverCoarse) {
  constexpr double kLeast = std::numeric_limits<double>::min();
  Histogram histogram = histogram_of({-kLeast, 0.0, kLeast});
  for (unsigned i = 0; i < Histogram::kMaxCoarseness; ++i) histogram.coarsen();
  EXPECT_LT(histogram.quantile(0.3), 0);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_GT(histogram.quantile(1), 0);
}

TEST(Histogram, TakesMemoryForOccurringPowersOfTwoOnlyAndLessWhenCoarser) {
  Histogram histogram;
  EXPECT_EQ(histogram.memory_bytes(), 0u);
  for (int i = 0; i < 1000; ++i) histogram.add(1 + i / 1000.0);
  EXPECT_LE(histogram.memory_bytes(), 300u);
  for (int exponent = 0; exponent < 100; ++exponent) histogram.add(std::ldexp(1, exponent));
  const std::size_t before = histogram.memory_bytes();
  histogram.coarsen();
  EXPECT_LT(histogram.memory_bytes(), before * 6 / 10);
}

TEST(Histogram, ForgetsAllButItsMemoryWhenCleared) {
  Histogram histogram;
  for (int exponent = 0; exponent < 100; ++exponent) histogram.add(std::ldexp(1, exponent));
  const std::size_t before = histogram.memory_bytes();
  histogram.clear();
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(packed(histogram), "");
  EXPECT_EQ(histogram.memory_bytes(), before);
  for (int exponent = -100; exponent < 0; ++exponent) histogram.add(std::ldexp(1, exponent));
  EXPECT_EQ(histogram.memory_bytes(), before);
  histogram.coarsen();
  histogram.clear();
  EXPECT_EQ(histogram.coarseness(), 0u);
  histogram.add(7);
  EXPECT_EQ(packed(histogram), packed(histogram_of({7})));
}

}  // namespace
}  // namespace pcp::trace
