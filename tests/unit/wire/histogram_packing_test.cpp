// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/histograms.hpp"
#include "unit/wire/hex.hpp"

namespace pcp::trace {
namespace {

using wire::from_hex;
using wire::to_hex;

Histogram random_histogram(std::uint32_t seed, std::size_t count, double spread) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> distribution(-7, spread);
  Histogram histogram;
  for (std::size_t i = 0; i < count; ++i) histogram.add(distribution(random));
  return histogram;
}

// 1.0 is bin 0x3ff * 32 = 32736; the next bins begin at 1 + 1/32, 1 + 2/32 and so on.
TEST(PackedHistogram, IsThisSequenceOfBytes) {
  const auto hex = [](const Histogram& histogram) { return to_hex(packed(histogram)); };
  EXPECT_EQ(hex(histogram_of({})), "");
  EXPECT_EQ(hex(histogram_of({0})), "000002");
  EXPECT_EQ(hex(histogram_of({1})), "00c0ff03 02");
  EXPECT_EQ(hex(histogram_of({1, 1, 1 + 1 / 32.0})), "00c0ff03 0402");
  EXPECT_EQ(hex(histogram_of({1, 1 + 4 / 32.0})), "00c0ff03 020302");
  EXPECT_EQ(hex(histogram_of({-1})), "00c1ff03 02");
  EXPECT_EQ(hex(histogram_of({-1, 1})), "00c1ff03 0203bfff 03");
  EXPECT_EQ(hex(histogram_of({1, 1 + 4 / 32.0}, 1)), "01e0ff01 020300");
  std::string text = "before";
  histogram_of({0}).pack(text);
  EXPECT_EQ(text, "before" + packed(histogram_of({0})));
}

void expect_same_again(const Histogram& histogram) {
  Histogram copy;
  ASSERT_TRUE(copy.merge_packed(packed(histogram)));
  ASSERT_TRUE(copy.merge_packed(""));  // changes nothing
  ASSERT_EQ(packed(copy), packed(histogram));
  ASSERT_EQ(copy.total(), histogram.total());
  std::uint64_t total = 0;
  ASSERT_TRUE(Histogram::read_packed_total(packed(histogram), total));
  ASSERT_EQ(total, histogram.total());
}

TEST(PackedHistogram, BecomesTheSameHistogram) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Histogram histogram = random_histogram(seed, seed * 10, seed / 10.0);
    for (std::uint32_t i = 0; i < seed % 6; ++i) histogram.coarsen();
    expect_same_again(histogram);
  }
  using Limits = std::numeric_limits<double>;
  Histogram ends =
      histogram_of({Limits::lowest(), -Limits::min(), 0, Limits::min(), Limits::max()});
  for (unsigned level = 0; level <= Histogram::kMaxCoarseness; ++level) {
    expect_same_again(ends);
    ends.coarsen();
  }
}

TEST(PackedHistogram, MergesLikeTheHistogramItself) {
  for (std::uint32_t seed = 0; seed < 36; ++seed) {
    Histogram into = random_histogram(seed, 200, 1);
    Histogram from = random_histogram(seed + 100, 200, 2);
    for (std::uint32_t i = 0; i < seed % 6; ++i) into.coarsen();
    for (std::uint32_t i = 0; i < seed / 6; ++i) from.coarsen();
    Histogram expected = into;
    expected.merge(from);
    ASSERT_TRUE(into.merge_packed(packed(from)));
    ASSERT_EQ(packed(into), packed(expected));
    ASSERT_EQ(into.coarseness(), std::max(seed % 6, seed / 6));
  }
}

TEST(PackedHistogram, TakesAtMost2Point5BytesForEachBin) {
  constexpr unsigned kBins = 200;
  const auto bytes = [](unsigned gap, int count) {
    Histogram histogram;
    for (unsigned bin = 0; bin < kBins * gap; bin += gap)
      for (int k = 0; k < count; ++k)
        histogram.add(std::ldexp(1 + (bin % 32) / 32.0, static_cast<int>(bin / 32) - 100));
    return static_cast<double>(packed(histogram).size());
  };
  for (const unsigned gap : {1u, 2u, 5u, 31u, 100u})
    for (const int count : {1, 10, 63})
      EXPECT_LE(bytes(gap, count), 2.5 * kBins) << gap << ", " << count;
  EXPECT_LE(bytes(1, 8000), 2.5 * kBins);
}

void expect_refused(const std::string& bytes, const char* what) {
  Histogram histogram = histogram_of({1, 2, 3});
  const std::string before = packed(histogram);
  std::uint64_t total = 0;
  EXPECT_FALSE(Histogram::read_packed_total(bytes, total)) << what;
  EXPECT_FALSE(histogram.merge_packed(bytes)) << what;
  EXPECT_EQ(packed(histogram), before) << what;
}

TEST(PackedHistogram, IsRefusedIfItIsNone) {
  const struct {
    const char* what;
    const char* bytes;
  } cases[] = {
      {"coarseness only", "00"},
      {"no bin", "00 00"},
      {"coarseness 6", "06 00 02"},
      {"zero count", "00 00 00"},
      {"gap before the first bin", "00 00 03 00"},
      {"zero count with a gap", "00 00 01 1e"},
      {"no gap where one is announced", "00 00 03"},
      {"unfinished first bin", "00 c0"},
      {"unfinished count", "00 00 82"},
      {"unfinished gap", "00 00 02 03 9f"},
      {"superfluous byte in the first bin", "00 80 00 02"},
      {"superfluous byte in a count", "00 00 82 00"},
      {"superfluous byte in a gap", "00 00 02 03 9e 00"},
      {"count of more than 64 bits", "00 00 ff ff ff ff ff ff ff ff ff 02"},
      {"count of eleven bytes", "00 00 82 80 80 80 80 80 80 80 80 80 01"},
      {"bin of a subnormal number", "00 02 02"},
      {"bin of a negative subnormal number", "00 01 02"},
      {"next bin is that of a subnormal number", "00 00 02 02"},
      {"bin of infinity", "00 c0 ff 07 02"},
      {"bin of minus infinity", "00 c1 ff 07 02"},
      {"next bin is that of infinity", "00 be ff 07 02 02"},
      {"first bin out of all range", "00 ff ff ff ff ff ff ff ff ff 01 02"},
      {"gap out of all range", "00 00 02 03 ff ff ff ff ff ff ff ff ff 01"},
      {"coarse bin below the coarse range", "05 ff 1f 02"},
      {"counts that overflow", "00 c0 ff 03 fe ff ff ff ff ff ff ff ff 01 02"},
  };
  for (const auto& [what, bytes] : cases) expect_refused(from_hex(bytes), what);
  const std::string good = packed(random_histogram(1, 100, 1));
  expect_refused(good + '\0', "a zero byte behind it");
  expect_refused(good + '\1', "half of a bin behind it");
  expect_refused(good + '\x80', "an unfinished number behind it");
}

TEST(PackedHistogram, IsRefusedIfTheTotalWouldOverflow) {
  const std::string most = from_hex("00 c0 ff 03 fe ff ff ff ff ff ff ff ff 01");
  Histogram histogram;
  ASSERT_TRUE(histogram.merge_packed(most));
  EXPECT_EQ(histogram.total(), Histogram::kMaxTotal);
  EXPECT_FALSE(histogram.merge_packed(from_hex("00 00 02")));
  EXPECT_EQ(packed(histogram), most);
}

TEST(PackedHistogram, WhenTruncatedIsRefusedOrShorterByWholeBins) {
  const std::string bytes = packed(random_histogram(5, 300, 2));
  std::uint64_t longest = 0;
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const std::vector<char> exact(bytes.begin(),
                                  bytes.begin() + static_cast<std::ptrdiff_t>(length));
    std::uint64_t total = 0;
    if (!Histogram::read_packed_total({exact.data(), length}, total)) continue;
    EXPECT_TRUE(length == 0 || total > longest);
    longest = total;
  }
  EXPECT_EQ(longest, 300u);
}

}  // namespace
}  // namespace pcp::trace
