// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/page/page_heat.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

using std::chrono::seconds;

TimedHistogram column(int begin_s, int end_s, double value) {
  TimedHistogram made{Moment(seconds(begin_s)), Moment(seconds(end_s)), {}};
  made.values.add(value);
  return made;
}

TEST(HeatColumns, AreNoFinerThanCanBeSeen) {
  const auto columns = heat_columns({column(0, 1, 1.0)});
  ASSERT_EQ(columns.size(), 1U);
  EXPECT_EQ(columns[0].values.coarseness(), kHeatCoarseness);
}

TEST(HeatColumns, AreMergedWhereThereAreTooMany) {
  std::vector<TimedHistogram> histograms;
  const int count = static_cast<int>(kMaxHeatColumns) * 2 + 1;
  for (int i = 0; i < count; ++i) histograms.push_back(column(i, i + 1, 1.0));
  const auto columns = heat_columns(histograms);
  EXPECT_LE(columns.size(), kMaxHeatColumns);
  std::uint64_t total = 0;
  for (const TimedHistogram& each : columns) total += each.values.total();
  EXPECT_EQ(total, histograms.size());
  EXPECT_EQ(columns.front().begin, histograms.front().begin);
  EXPECT_EQ(columns.back().end, histograms.back().end);
}

TEST(HeatColumns, AreMergedOverShortPausesAndNotOverLongOnes) {
  std::vector<TimedHistogram> histograms;
  const int count = static_cast<int>(kMaxHeatColumns) * 4;
  for (int i = 0; i < count; ++i) histograms.push_back(column(2 * i, 2 * i + 1, 1.0));
  histograms.push_back(column(4 * count, 4 * count + 1, 1.0));
  const auto columns = heat_columns(histograms);
  EXPECT_LE(columns.size(), kMaxHeatColumns);
  EXPECT_GT(columns.size(), kMaxHeatColumns / 3);
  EXPECT_EQ(columns.back().begin, histograms.back().begin);
  EXPECT_EQ(columns[columns.size() - 2].end, histograms[histograms.size() - 2].end);
}

TEST(HeatColumns, StayAsTheyAreWhereThereAreFew) {
  std::vector<TimedHistogram> histograms;
  for (int i = 0; i < static_cast<int>(kMaxHeatColumns); ++i)
    histograms.push_back(column(i * i, i * i + 1, 1.0));
  EXPECT_EQ(heat_columns(histograms).size(), histograms.size());
}

TEST(HeatColumns, LeaveOutWhatIsEmpty) {
  EXPECT_TRUE(heat_columns({TimedHistogram{}}).empty());
  EXPECT_TRUE(heat_columns({}).empty());
}

}  // namespace
}  // namespace pcp::trace::command
