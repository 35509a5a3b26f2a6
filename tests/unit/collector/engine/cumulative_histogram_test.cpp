// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/cumulative_histogram.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/histograms.hpp"

namespace pcp::trace::agent {
namespace {

constexpr std::uint64_t kSince = 1'763'800'000'123'456'789;

std::vector<double> random_values(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> distribution(-7, 1);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

std::string text_of(const CumulativeHistogram& each) {
  return cumulative_histogram_text(each.since_ns, each.histogram.total(), each.unbinned,
                                   packed(each.histogram));
}

// 0.5, 0.25 and 1.0, as in protocol.md.
TEST(CumulativeHistogram, IsThisText) {
  const Histogram histogram = histogram_of({0.5, 0.25, 1.0});
  EXPECT_EQ(cumulative_histogram_text(kSince, 3, 7, packed(histogram)),
            "1 1763800000123456789 0 3 7 AMD+AwIDHgMe");
  EXPECT_EQ(text_of({kSince, 0, {}}), "1 1763800000123456789 0 0 0 -");
  EXPECT_EQ(text_of({0, 1, histogram_of({0}, 5)}), "1 0 5 1 1 BQAC");
}

TEST(CumulativeHistogram, ComesOutOfItsText) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Histogram histogram =
        histogram_of(random_values(seed, seed * 5), seed == 0 ? 0 : seed % 6);
    const auto parsed = parse_cumulative_histogram(text_of({kSince, seed, histogram}));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->since_ns, kSince);
    EXPECT_EQ(parsed->unbinned, seed);
    EXPECT_EQ(packed(parsed->histogram), packed(histogram));
    EXPECT_EQ(parsed->histogram.coarseness(), histogram.coarseness());
  }
}

TEST(CumulativeHistogram, TakesTheGreatestNumbers) {
  const auto parsed = parse_cumulative_histogram("1 9223372036854775807 0 0 9223372036854775807 -");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->since_ns, CumulativeHistogram::kMaxNumber);
  EXPECT_EQ(parsed->unbinned, CumulativeHistogram::kMaxNumber);
}

TEST(CumulativeHistogram, IsNotReadFromOtherText) {
  const std::string good = "1 5 0 3 7 AMD+AwIDHgMe";
  ASSERT_TRUE(parse_cumulative_histogram(good));
  const struct {
    const char* what;
    const char* text;
  } cases[] = {
      {"nothing", ""},
      {"another version", "2 5 0 3 7 AMD+AwIDHgMe"},
      {"a blank before", " 1 5 0 3 7 AMD+AwIDHgMe"},
      {"a blank behind", "1 5 0 3 7 AMD+AwIDHgMe "},
      {"a blank behind nothing", "1 5 0 0 7 - "},
      {"two blanks", "1 5  0 3 7 AMD+AwIDHgMe"},
      {"a tabulator", "1\t5 0 3 7 AMD+AwIDHgMe"},
      {"five words", "1 5 0 3 7"},
      {"a last word without letters", "1 5 0 0 7 "},
      {"seven words", "1 5 0 3 7 AMD+AwIDHgMe 8"},
      {"another count", "1 5 0 4 7 AMD+AwIDHgMe"},
      {"a count of nothing", "1 5 0 1 7 -"},
      {"another coarseness", "1 5 1 3 7 AMD+AwIDHgMe"},
      {"a coarseness of nothing", "1 5 1 0 7 -"},
      {"a negative number", "1 -5 0 3 7 AMD+AwIDHgMe"},
      {"a sign", "1 +5 0 3 7 AMD+AwIDHgMe"},
      {"a zero before", "1 05 0 3 7 AMD+AwIDHgMe"},
      {"a fraction", "1 5.0 0 3 7 AMD+AwIDHgMe"},
      {"a letter", "1 5 0 3 7a AMD+AwIDHgMe"},
      {"too great a number", "1 9223372036854775808 0 3 7 AMD+AwIDHgMe"},
      {"a number without end", "1 99999999999999999999999 0 3 7 AMD+AwIDHgMe"},
      {"bytes that are no histogram", "1 5 0 3 7 AMD+AwIDHgM="},
      {"no padding", "1 0 5 1 1 BQA"},
  };
  for (const auto& [what, text] : cases) EXPECT_FALSE(parse_cumulative_histogram(text)) << what;
  EXPECT_FALSE(parse_cumulative_histogram(good + '\0'));
}

// Each bin after the first takes three bytes.
Histogram of_bytes(std::uint64_t count_of_first, int further_bins) {
  Histogram histogram;
  histogram.add_bin(32, 0, count_of_first);
  for (int i = 1; i <= further_bins; ++i) histogram.add_bin(32 + 2 * i, 0, 64);
  return histogram;
}

TEST(CumulativeHistogram, HasSoManyBytesAtMost) {
  const Histogram most = of_bytes(64, 1364);
  ASSERT_EQ(packed(most).size(), CumulativeHistogram::kMaxPackedBytes);
  EXPECT_TRUE(parse_cumulative_histogram(text_of({1, 0, most})));
  const Histogram more = of_bytes(64 * 128, 1364);
  ASSERT_EQ(packed(more).size(), CumulativeHistogram::kMaxPackedBytes + 1);
  EXPECT_FALSE(parse_cumulative_histogram(text_of({1, 0, more})));
  EXPECT_FALSE(parse_cumulative_histogram("1 5 0 3 7 " + std::string(100'000'000, 'A')));
}

TEST(CumulativeHistogram, SurvivesAnyChangeOfItsText) {
  std::mt19937 random(3);
  std::vector<std::string> good;
  for (std::uint32_t seed = 1; seed < 10; ++seed)
    good.push_back(text_of({kSince, seed, histogram_of(random_values(seed, 30), seed % 6)}));
  for (int round = 0; round < 50'000; ++round) {
    std::string text = good[random() % good.size()];
    for (auto changes = random() % 3 + 1; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      text[at] = random() % 2 == 0 ? static_cast<char>(random()) : text[random() % text.size()];
    }
    const auto parsed = parse_cumulative_histogram(text);
    if (!parsed) continue;
    ASSERT_EQ(text_of(*parsed), text);  // each histogram has exactly one text
  }
}

// Histograms of the first values and of all values, and the values that came between.
struct Samples {
  CumulativeHistogram older;
  CumulativeHistogram newer;
  std::vector<double> between;
};

Samples samples(std::uint32_t seed, unsigned older_coarseness, unsigned newer_coarseness) {
  const std::vector<double> first = random_values(seed, 200);
  const std::vector<double> then = random_values(seed + 1000, 100);
  std::vector<double> all = first;
  all.insert(all.end(), then.begin(), then.end());
  return {{kSince, 3, histogram_of(first, older_coarseness)},
          {kSince, 10, histogram_of(all, newer_coarseness)},
          then};
}

TEST(CumulativeHistogram, LessAnOlderOneIsWhatCameBetween) {
  for (std::uint32_t seed = 0; seed < 36; ++seed) {
    const unsigned older = seed % 6;
    const unsigned newer = seed / 6;
    const Samples both = samples(seed, older, newer);
    const CumulativeHistogram between = subtract(both.newer, both.older);
    EXPECT_EQ(packed(between.histogram),
              packed(histogram_of(both.between, std::max(older, newer))));
    EXPECT_EQ(between.histogram.total(), 100u);
    EXPECT_EQ(between.unbinned, 7u);
    EXPECT_EQ(between.since_ns, kSince);
    const CumulativeHistogram nothing = subtract(both.newer, both.newer);
    EXPECT_EQ(text_of(nothing), text_of({kSince, 0, histogram_of({}, newer)}));
  }
}

TEST(CumulativeHistogram, LessWhatIsNoPartOfItStandsAlone) {
  const Samples both = samples(1, 0, 0);
  const auto expect_alone = [](const CumulativeHistogram& newer, const CumulativeHistogram& older) {
    EXPECT_EQ(text_of(subtract(newer, older)), text_of(newer));
  };
  expect_alone(both.older, both.newer);
  CumulativeHistogram other = both.older;
  --other.since_ns;  // of another life
  expect_alone(both.newer, other);
  other = both.older;
  other.histogram.add(1e9);
  expect_alone(both.newer, other);
  other = both.older;
  for (int i = 0; i < 300; ++i) other.histogram.add(both.between.front());
  expect_alone(both.newer, other);
  other = both.older;
  other.unbinned = 11;
  expect_alone(both.newer, other);
}

}  // namespace
}  // namespace pcp::trace::agent
