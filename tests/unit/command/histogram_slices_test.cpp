// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/histogram_slices.hpp"

#include <gtest/gtest.h>

#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

using std::chrono::seconds;

TEST(HistogramSlices, HaveNothingOfAGap) {
  HistogramSlices slices;
  slices.take(shape(0, histogram_of({1, 1})), moment(1), moment(0), true);
  slices.interrupt();
  slices.take(shape(0, histogram_of({1, 1, 5, 5, 5})), moment(8), moment(7), false);
  slices.take(shape(0, histogram_of({1, 1, 5, 5, 5, 9})), moment(9), moment(8), false);
  const auto found = slices.finish();
  ASSERT_EQ(found.slices.size(), 1U);
  EXPECT_EQ(found.slices[0].values.total(), 3U);
  EXPECT_EQ(found.slices[0].begin, moment(0));
  EXPECT_EQ(found.slices[0].end, moment(9));
}

TEST(HistogramSlices, HaveAllValuesOfAnAgentThatBeginsAnew) {
  HistogramSlices slices;
  slices.take(shape(-9, histogram_of({1}), 5), moment(0), moment(0), false);
  slices.take(shape(-9, histogram_of({1, 2}), 7), moment(1), moment(0), false);
  slices.take(shape(1.5, histogram_of({7, 8}), 1), moment(2), moment(1), false);
  const auto found = slices.finish();
  ASSERT_EQ(found.slices.size(), 1U);
  EXPECT_EQ(found.slices[0].values.total(), 3U);
  EXPECT_EQ(found.unbinned, 3U);
}

TEST(HistogramSlices, SayThatOneTextWasInvalid) {
  for (const char* const text : {"1 17 what", "what"}) {
    HistogramSlices slices;
    slices.take(text, moment(1), moment(0), true);
    slices.take(shape(0, histogram_of({1})), moment(2), moment(1), true);
    const auto found = slices.finish();
    EXPECT_TRUE(found.has_texts && found.has_invalid_text) << text;
  }
  HistogramSlices valid;
  EXPECT_FALSE(HistogramSlices().finish().has_texts);
  valid.take(shape(0, histogram_of({1})), moment(1), moment(0), true);
  EXPECT_FALSE(valid.finish().has_invalid_text);
}

TEST(HistogramSlices, KnowSinceWhenATextCounts) {
  EXPECT_EQ(since_of("1 17 0 0 0 -"), WallTime(std::chrono::nanoseconds(17)));
  for (const char* const none : {"", "1", "1 17", "1 x 0", "2 17 0 0 0 -"})
    EXPECT_EQ(since_of(none), std::nullopt) << none;
}

TEST(HistogramSlices, AreNotJoinedOverALongTimeWithoutValues) {
  HistogramSlices slices(seconds(8));
  slices.take(shape(0, histogram_of({1})), moment(1), moment(0), true);
  slices.take(shape(0, histogram_of({1, 2})), moment(20), moment(19), false);
  const auto found = slices.finish();
  ASSERT_EQ(found.slices.size(), 2U);
  EXPECT_EQ(found.slices[0].end, moment(1));
  EXPECT_EQ(found.slices[1].begin, moment(19));
}

// One value a second, with a gap of so many seconds behind each.
std::vector<TimedHistogram> slices_with_gaps(int values, int gap_s) {
  HistogramSlices slices(seconds(8));
  for (int i = 0; i < values; ++i) {
    const double begin = i * (1 + gap_s);
    slices.take(shape(begin, histogram_of({1})), moment(begin + 1), moment(begin), true);
    slices.interrupt();
  }
  return slices.finish().slices;
}

TEST(HistogramSlices, AreJoinedOverShortGapsAndNotOverLongOnes) {
  EXPECT_EQ(slices_with_gaps(40, 9).size(), 40U);
  const auto joined = slices_with_gaps(40, 0);
  EXPECT_LE(joined.size(), 20U);
  std::uint64_t total = 0;
  for (const TimedHistogram& each : joined) total += each.values.total();
  EXPECT_EQ(total, 40U);
  EXPECT_EQ(joined.back().end, moment(40));
}

}  // namespace
}  // namespace pcp::trace::command
