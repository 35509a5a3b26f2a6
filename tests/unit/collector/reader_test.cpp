// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/reader.hpp"

#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "collector/shared.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr WallTime kWall{400'000h};

// Intervals of two seconds.
class ReaderTest : public testing::Test {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.period = 10s;
    options.buckets = 5;
    return options;
  }

  void apply(TraceType type, const std::string& tag, double value) {
    const Lock lock(shared_.mutex);
    shared_.engine.apply_value(shared_.engine.tag(type, tag), value, now_);
  }

  // The number of values in each instance's distribution.
  std::map<std::int32_t, std::uint64_t> totals(TraceType type, Instant end) {
    std::map<std::int32_t, std::uint64_t> totals;
    reader_.histograms(type, now_, [&](IntervalHistogram&& histogram) {
      EXPECT_EQ(histogram.end, end);
      EXPECT_TRUE(Histogram::read_packed_total(histogram.packed, totals[histogram.instance]));
    });
    return totals;
  }

  Instant now_ = kStart;
  Shared shared_{options(), {}, now_, kWall};
  Reader reader_{shared_};
};

using Totals = std::map<std::int32_t, std::uint64_t>;

TEST_F(ReaderTest, GivesTheDistributionsOfTheIntervalThatWasOverLast) {
  apply(TraceType::Observe, "a", 1);
  apply(TraceType::Observe, "a", 2);
  apply(TraceType::Observe, "b", 3);
  EXPECT_EQ(totals(TraceType::Observe, {}), Totals{});  // the interval is not over
  now_ += 2s;
  EXPECT_EQ(totals(TraceType::Observe, kStart + 2s), (Totals{{1, 2}, {2, 1}}));
  apply(TraceType::Observe, "b", 4);
  EXPECT_EQ(totals(TraceType::Observe, kStart + 2s), (Totals{{1, 2}, {2, 1}}));
  now_ += 2s;
  EXPECT_EQ(totals(TraceType::Observe, kStart + 4s), (Totals{{2, 1}}));
  now_ += 2s;
  EXPECT_EQ(totals(TraceType::Observe, {}), Totals{});
}

TEST_F(ReaderTest, GivesTheValuesThatWerePutIntoADistribution) {
  Histogram expected;
  for (const double value : {-1.0, 0.0, 5.0, 5.0, 1e9}) {
    apply(TraceType::Transact, "a", value);
    expected.add(value);
  }
  now_ += 3s;
  std::string packed;
  reader_.histograms(TraceType::Transact, now_,
                     [&](IntervalHistogram&& histogram) { packed += histogram.packed; });
  std::string expected_packed;
  expected.pack(expected_packed);
  EXPECT_EQ(packed, expected_packed);
}

TEST_F(ReaderTest, GivesNoDistributionsOfPointsAndCounters) {
  apply(TraceType::Point, "a", 1);
  apply(TraceType::Counter, "a", 1);
  now_ += 2s;
  EXPECT_EQ(totals(TraceType::Point, {}), Totals{});
  EXPECT_EQ(totals(TraceType::Counter, {}), Totals{});
}

TEST_F(ReaderTest, GivesAllDistributionsHoweverManySlicesTheyTake) {
  Totals expected;
  for (int i = 1; i <= 1000; ++i) {
    apply(TraceType::Observe, "tag" + std::to_string(i), i);
    expected[i] = 1;
  }
  now_ += 2s;
  EXPECT_EQ(totals(TraceType::Observe, kStart + 2s), expected);
}

TEST_F(ReaderTest, GivesWhatIsKeptSinceATimeOfTheWallClock) {
  const auto all = [](std::int32_t) { return true; };
  const auto nobody = [](CumulativeSample&&) { FAIL() << "none is kept"; };
  for (int i = 1; i <= 1000; ++i) apply(TraceType::Observe, "tag" + std::to_string(i), i);
  reader_.cumulative(TraceType::Observe, now_, all, nobody);
  now_ += 1s;
  reader_.begin_cumulative(now_);
  now_ += 1s;
  std::int32_t expected = 0;
  const auto odd = [](std::int32_t instance) { return instance % 2 == 1; };
  reader_.cumulative(TraceType::Observe, now_, odd, [&](CumulativeSample&& sample) {
    EXPECT_EQ(sample.instance, std::exchange(expected, expected + 2) + 1);
    EXPECT_EQ(reader_.wall_time(sample.since), kWall + 1s);
    EXPECT_EQ(sample.count, 1u);
  });
  EXPECT_EQ(expected, 1000);
}

}  // namespace
}  // namespace pcp::trace::agent
