// SPDX-License-Identifier: LGPL-2.1-or-later
// Totals of a run whose parts know different things of it.
#include "command/run/run_totals.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command/show/value_range.hpp"
#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

using Values = std::map<std::string, ArchiveOfTags::Values>;

// A window of ten seconds.
Values window(double calls_so_far, double calls, double max, double p99) {
  return {{kPeriod, 10},      {kCalls, calls_so_far}, {kRate, calls / 10},
          {kLeast, max / 10}, {kMost, max},           {kP99Time, p99}};
}

class RunTotalsOf : public OfArchives {
 protected:
  // Makes a run with one sample after its begin.
  std::string one_sample(const std::string& host, double second, const Values& values) {
    begun(host, {host}).sample(second, values);
    return host;
  }
  Tag tag(const std::vector<std::string>& names) { return totals(names).tags.at(0); }
};

TEST_F(RunTotalsOf, TheWindowWithAllCallsCountsNotThoseBeforeAndAfter) {
  begun()
      .sample(1, window(5, 5, 1, 1))
      .sample(2, window(10, 10, 3, 2))
      .sample(3, window(10, 5, 1, 9));
  const Tag all = tag({"run"});
  EXPECT_EQ(all.percentile_source, PercentileSource::OneWindow);
  EXPECT_EQ(all.percentiles[kP99], 2);
  EXPECT_EQ(all.max, (Extreme{3, true}));
  EXPECT_TRUE(all.min && all.min->is_exact);
}

TEST_F(RunTotalsOf, AWindowWithoutPercentilesGivesNone) {
  Values values = window(10, 10, 3, 2);
  values.erase(kP99Time);
  EXPECT_EQ(tag({one_sample("saturn", 1, values)}).percentile_source,
            PercentileSource::NotRecorded);
}

TEST_F(RunTotalsOf, WindowsOfUnknownLengthSayNothing) {
  Values values = window(10, 10, 3, 2);
  values.erase(kPeriod);
  ArchiveOfTags& archive = make("run", {"saturn", true}).sample(0, values);
  values[kCalls] = 20;
  archive.sample(60, values);
  EXPECT_FALSE(tag({"run"}).max);
}

// An agent's window ended up to an interval before the sample.
TEST_F(RunTotalsOf, AWindowIsOfTheRunIfItBeganInTheRunForSure) {
  for (const auto& [command, second] : {std::pair("", 12), std::pair("", 11), std::pair("a", 10)}) {
    ArchiveKind kind{"saturn", true};
    kind.command = command;
    Values last = window(11, 10, 3, 2);
    last[kInterval] = 2;
    make("run", kind).sample(0, window(1, 1, 5, 5)).sample(second, last);
    EXPECT_EQ(tag({"run"}).max.has_value(), second != 11);
    EXPECT_EQ(tag({"run"}).percentiles[kP99] == 2, second != 11);
  }
}

TEST_F(RunTotalsOf, WindowsThatOverlapShowNotAllCallsThoughTheirSumIsTheSame) {
  begun().sample(1, window(2, 2, 1, 1)).sample(2, window(4, 2, 1, 1));
  ASSERT_TRUE(tag({"run"}).max);
  EXPECT_FALSE(tag({"run"}).max->is_exact);
}

TEST_F(RunTotalsOf, RatesAreAsPreciseAsTheyAre) {
  EXPECT_TRUE(tag({one_sample("saturn", 1, window(1e8, 1e8 + 5, 3, 2))}).max->is_exact);
}

TEST_F(RunTotalsOf, TheSlowestMomentIsThatOfTheGreatestMaximum) {
  Values p99_only = window(5, 5, 1, 7);
  p99_only.erase(kMost);
  p99_only[kP999Time] = 8;
  EXPECT_EQ(tag({one_sample("jupiter", 1, p99_only)}).slowest->value, 7);
  begun().sample(1, p99_only).sample(2, window(10, 5, 3, 4));
  const Tag all = tag({"run"});
  ASSERT_TRUE(all.slowest);
  EXPECT_FALSE(all.slowest->is_p99);
  EXPECT_EQ(all.slowest->value, 3);
}

TEST_F(RunTotalsOf, ExtremesOfSeveralHostsAreThoseOfTheFarthest) {
  const std::string fast = one_sample("fast", 1, window(10, 10, 2, 2));
  const std::string slow = one_sample("slow", 2, window(10, 10, 8, 8));
  for (const auto& hosts : {std::vector{fast, slow}, std::vector{slow, fast}}) {
    const Tag all = tag(hosts);
    EXPECT_EQ(all.min, (Extreme{0.2, true}));
    EXPECT_EQ(all.max, (Extreme{8, true}));
    EXPECT_EQ(all.slowest->at, moment(2));
  }
}

TEST_F(RunTotalsOf, ExtremesAreExactIfTheyAreOfAllHosts) {
  const std::string exact = one_sample("exact", 1, window(10, 10, 2, 2));
  const std::string partly = one_sample("partly", 1, window(10, 5, 2, 2));
  const std::string none = one_sample("none", 1, {{kCalls, 10}});
  for (const std::string& other : {partly, none}) {
    EXPECT_FALSE(tag({exact, other}).max->is_exact) << other;
    EXPECT_FALSE(tag({other, exact}).max->is_exact) << other;
  }
}

TEST_F(RunTotalsOf, AHostWithoutCallsTakesNothingAway) {
  const std::string idle = one_sample("idle", 1, {{kCalls, 0}});
  const std::string busy = one_sample("busy", 1, window(10, 10, 3, 2));
  for (const auto& hosts : {std::vector{idle, busy}, std::vector{busy, idle}}) {
    const Tag all = tag(hosts);
    EXPECT_EQ(all.percentile_source, PercentileSource::OneWindow);
    EXPECT_TRUE(all.max->is_exact);
  }
  EXPECT_EQ(tag({idle}).percentile_source, PercentileSource::NoCalls);
  EXPECT_FALSE(tag({idle}).mean);
}

TEST_F(RunTotalsOf, ManyWindowsOfOneBusyHostAreNotThoseOfSeveralHosts) {
  EXPECT_EQ(tag({one_sample("idle", 1, {{kCalls, 0}}), one_sample("busy", 1, window(10, 5, 3, 2))})
                .percentile_source,
            PercentileSource::SeveralWindows);
}

TEST_F(RunTotalsOf, WhatOneOfSeveralDoesNotSayIsUnknown) {
  make("stock", {"saturn", true, {kCalls, kTime}})
      .sample(0, {{kCalls, 0}})
      .sample(1, {{kCalls, 4}});
  const std::string ours = one_sample("ours", 1, {{kCalls, 4}, {kFailed, 1}});
  EXPECT_EQ(tag({ours}).failed, 1);
  for (const auto& archives : {std::vector<std::string>{"stock"}, {ours, "stock"}, {"stock", ours}})
    EXPECT_EQ(tag(archives).failed, std::nullopt);
}

TEST_F(RunTotalsOf, TheLastValueIsTheOneThatCameLast) {
  const auto value = [](double last) {
    return Values{{"trace.observe.count", {{"o", 1.0}}}, {"trace.observe.value", {{"o", last}}}};
  };
  const std::string early = one_sample("early", 1, value(7));
  const std::string late = one_sample("late", 2, value(8));
  EXPECT_EQ(tag({early, late}).last, 8);
  EXPECT_EQ(tag({late, early}).last, 8);
}

TEST_F(RunTotalsOf, OneHostMayHaveSeveralArchives) {
  for (const auto& [name, begin, end] : std::vector<std::tuple<std::string, int, int>>{
           {"all", 0, 20}, {"part", 5, 10}, {"next", 20, 40}}) {
    make(name, {"saturn"}).begin(begin).sample(end, {{kCalls, 10}});
  }
  const Totals all = totals({"all", "part", "next"});
  EXPECT_EQ(all.run.hosts, std::vector<std::string>{"saturn"});
  EXPECT_EQ(all.tags.at(0).hosts, std::vector<std::uint16_t>{0});
  EXPECT_TRUE(all.run.gaps.empty());
  EXPECT_EQ(all.run.elapsed_s(), 40);
  EXPECT_EQ(all.run.samples, 6U);
  EXPECT_EQ(all.run.interval, std::chrono::seconds(20));
}

TEST_F(RunTotalsOf, TheIntervalIsTheLongestOfAll) {
  EXPECT_EQ(totals({one_sample("seldom", 9, {{kCalls, 1}}), one_sample("often", 1, {{kCalls, 1}})})
                .run.interval,
            std::chrono::seconds(9));
}

TEST_F(RunTotalsOf, AGapIsOneOfItsHost) {
  one_sample("saturn", 100, {{kCalls, 1}});
  begun("jupiter", {"jupiter"})
      .sample(10, {{kCalls, 1}})
      .mark(11)
      .sample(90, {{kCalls, 1}})
      .sample(95, {{kCalls, 1}});
  const Totals all = totals({"saturn", "jupiter"});
  ASSERT_EQ(all.run.gaps.size(), 1U);
  EXPECT_EQ(all.run.gaps[0].host, 1);
  EXPECT_EQ(all.run.elapsed_s(), 100);
}

TEST_F(RunTotalsOf, OfOneSampleThereAreNoRates) {
  make().sample(0, {{kCalls, 4}, {kTime, 1}});
  const Totals all = totals();
  EXPECT_EQ(all.run.interval, std::nullopt);
  EXPECT_EQ(all.tags.at(0).rate, std::nullopt);
  EXPECT_EQ(all.tags.at(0).busy, std::nullopt);
}

TEST_F(RunTotalsOf, AHistogramOfEachHostIsNeeded) {
  const std::string with =
      one_sample("with", 1, {{kCalls, 3}, {kShape, shape(0, of_values({1, 2, 3}))}});
  const std::string too_many =
      one_sample("too many", 1, {{kCalls, 1}, {kShape, shape(0, of_values({1, 2}))}});
  const std::string without = one_sample("without", 1, {{kCalls, 1}});
  EXPECT_EQ(tag({with}).percentile_source, PercentileSource::Histogram);
  EXPECT_EQ(tag({with, without}).percentile_source, PercentileSource::IncompleteHistogram);
  EXPECT_EQ(tag({too_many, without}).percentile_source, PercentileSource::IncompleteHistogram);
}

TEST_F(RunTotalsOf, AWindowsPercentilesLackWhatTheHistogramLacks) {
  ArchiveOfTags& archive = make();
  auto values = window(10, 10, 3, 2);
  values[kShape] = shape(0, of_values({1, 2, 3}), 7);
  archive.begin(0).sample(1, values);
  EXPECT_EQ(tag({"run"}).percentile_source, PercentileSource::IncompleteHistogram);
}

TEST_F(RunTotalsOf, AHistogramOfATagThatIsNewIsOfTheRunWhateverItsBegin) {
  one_sample("saturn", 1, {{kCalls, 2}, {kShape, shape(-9, of_values({1, 2}))}});
  EXPECT_EQ(tag({"saturn"}).percentile_source, PercentileSource::Histogram);
}

// An agent's has the whole interval that was running when it began.
TEST_F(RunTotalsOf, AHistogramThatBeginsInTheRunIsOfTheRunUnlessItIsAnAgents) {
  for (const char* const command : {"", "./app"}) {
    ArchiveKind kind{"saturn", true};
    kind.command = command;
    make("run", kind)
        .sample(0, {{kCalls, 5}})
        .sample(1, {{kCalls, 7}, {kShape, shape(0.5, of_values({1, 2}))}});
    EXPECT_EQ(tag({"run"}).percentile_source == PercentileSource::Histogram, kind.command != "");
  }
}

// A slow call comes just before the run, and one in the agent's last interval. As many calls lie
// between the begin of the agent's first interval and the begin of its last one as in the run.
TEST_F(RunTotalsOf, AnAgentsDistributionIsOfItsIntervalsInTheRun) {
  const auto sample = [](double calls, const std::vector<double>& values) -> Values {
    return {{kCalls, calls}, {kShape, shape(-9, of_values(values))}};
  };
  make("run", {"saturn", true})
      .sample(0, sample(2, {1}))
      .sample(1, sample(3, {1}))
      .sample(2, sample(4, {1, 9, 2}))
      .sample(3, sample(8, {1, 9, 2, 3, 3, 3, 3}))
      .sample(4, sample(9, {1, 9, 2, 3, 3, 3, 3}));
  const Tag all = tag({"run"});
  EXPECT_EQ(all.percentile_source, PercentileSource::WholeIntervals);
  EXPECT_EQ(all.distribution.value().total(), 4U);
  EXPECT_NEAR(all.percentiles[kP99].value(), 3, 0.06);
  EXPECT_NEAR(all.max.value().value, 3, 0.06);
  const auto p99 = range_of(all, Figure::P99);
  EXPECT_NEAR(p99.value().least, 3, 0.06);
  EXPECT_TRUE(std::isinf(p99->greatest));
}

TEST_F(RunTotalsOf, AMaximumOfSomeCallsIsNoLessThanTheDistributionsHighestBin) {
  Values values = window(10, 5, 2, 2);
  values[kShape] = shape(0, of_values({1, 1, 1, 1, 1, 1, 1, 1, 2, 39}));
  const Tag all = tag({one_sample("some", 1, values)});
  ASSERT_TRUE(all.slowest);
  EXPECT_EQ(all.max, (Extreme{39, false}));  // the lower bound of a bin
  EXPECT_EQ(all.slowest->value, 39);
  EXPECT_FALSE(all.slowest->at);
  values[kShape] = shape(0, of_values({1.99}));
  const Tag higher = tag({one_sample("higher", 1, values)});
  EXPECT_EQ(higher.max->value, 2);
  EXPECT_EQ(higher.slowest->at, moment(1));
  EXPECT_EQ(higher.slowest->within_s, 1);  // the run is shorter than the window
}

// A percentile from the distribution is the middle of a bin, which may lie above a value in the
// bin.
TEST_F(RunTotalsOf, NoPercentileIsAboveTheMaximum) {
  const auto check = [&](const std::string& name, const std::string& what, double most,
                         const std::vector<double>& values, bool is_exact) {
    Values of_window = window(static_cast<double>(values.size()),
                              static_cast<double>(values.size()) - (is_exact ? 0 : 1), most, most);
    of_window[kShape] = shape(0, of_values(values));
    const Tag all = tag({one_sample(name, 1, of_window)});
    ASSERT_TRUE(all.max) << what;
    EXPECT_EQ(all.max->is_exact, is_exact) << what;
    for (const std::optional<double>& each : all.percentiles) {
      ASSERT_TRUE(each) << what;
      EXPECT_LE(*each, all.max->value) << what;
    }
  };
  check("one", "exact, at the bin's lower edge", 39, {1, 39, 39, 39}, true);
  check("two", "not exact, at the bin's lower edge", 2, {1, 2, 39, 39}, false);
  check("three", "not exact, in the highest bin", 39.05, {1, 39.5, 39.5, 39.5}, false);
}

TEST_F(RunTotalsOf, AnExactMaximumStaysAsItIs) {
  Values values = window(10, 10, 2, 2);
  values[kShape] = shape(0, of_values({39}));
  EXPECT_EQ(tag({one_sample("all", 1, values)}).max, (Extreme{2, true}));
}

TEST_F(RunTotalsOf, ADistributionOfNegativeValuesRaisesNothing) {
  EXPECT_FALSE(
      tag({one_sample("negative", 1, {{kCalls, 1}, {kShape, shape(0, of_values({-3}))}})}).max);
}

TEST_F(RunTotalsOf, AllThatIsKnownOfASingleValueIsThatValue) {
  const std::string time = one_sample("time", 1, {{kCalls, 1}, {kTime, 1.01}});
  const std::string observed = one_sample(
      "observed", 1,
      {{"trace.observe.count", 1}, {"trace.observe.sum", 1.01}, {"trace.observe.value", 1.01}});
  for (const std::string& each : {time, observed}) {
    const Tag all = tag({each});
    EXPECT_EQ(all.min, (Extreme{1.01, true})) << each;
    EXPECT_EQ(all.max, (Extreme{1.01, true}));
    EXPECT_EQ(all.percentiles[kP50], 1.01);
    EXPECT_EQ(all.percentiles[kP999], 1.01);
    EXPECT_EQ(all.percentile_source, PercentileSource::OneValue);
  }
  EXPECT_FALSE(tag({time, one_sample("other", 1, {{kCalls, 1}, {kTime, 2}})}).max);
}

TEST_F(RunTotalsOf, OfASumThatHasNotBegunInTheRunNoValueIsKnown) {
  make().sample(0, {{kCalls, 7}, {kTime, 1e9}}).sample(1, {{kCalls, 8}, {kTime, 1e9 + 0.01}});
  EXPECT_FALSE(tag({"run"}).max);
}

TEST_F(RunTotalsOf, ASingleValueThatIsNoNumberIsNone) {
  const Tag all = tag({one_sample("nan", 1,
                                  {{"trace.observe.count", 1},
                                   {"trace.observe.sum", 0},
                                   {"trace.observe.value", std::nan("")}})});
  EXPECT_FALSE(all.max);
  EXPECT_FALSE(all.percentiles[kP50]);
}

TEST_F(RunTotalsOf, ASumThatWasTooGreatIsUnknown) {
  constexpr double kGreatest = std::numeric_limits<double>::max();
  const auto observed = [this](const std::string& name, double sum) {
    return one_sample(name, 1, {{"trace.observe.count", 4}, {"trace.observe.sum", sum}});
  };
  const std::string great = observed("great", kGreatest);
  const std::string known = observed("known", 1.7e308);
  EXPECT_EQ(tag({known}).mean, 1.7e308 / 4);
  for (const auto& archives :
       {std::vector{great}, std::vector{great, known}, std::vector{known, great},
        std::vector{known, observed("more", 1e308)}}) {
    EXPECT_EQ(tag(archives).sum, std::nullopt);
    EXPECT_EQ(tag(archives).mean, std::nullopt);
  }
}

TEST_F(RunTotalsOf, ASumThatBecomesTooGreatInTheRunIsUnknown) {
  ArchiveOfTags& archive = make();
  const auto sample = [&](double second, double count, double sum) {
    archive.sample(second, {{"trace.observe.count", count}, {"trace.observe.sum", sum}});
  };
  sample(0, 1, 1.7e308);
  sample(1, 2, std::numeric_limits<double>::max());
  sample(2, 3, std::numeric_limits<double>::max());
  EXPECT_EQ(tag({"run"}).calls, 2);
  EXPECT_EQ(tag({"run"}).sum, std::nullopt);
}

// Other values are counted separately.
TEST_F(RunTotalsOf, PercentilesAreOfTheFiniteValues) {
  begun().sample(1, {{"trace.observe.count", {{"a", 4.0}, {"n", 2.0}}},
                     {"trace.observe.sum", {{"a", 6.0}, {"n", 0.0}}},
                     {"trace.observe.nonfinite", {{"a", 1.0}, {"n", 2.0}}},
                     {"tracing.histogram.observe",
                      {{"a", shape(0, of_values({1, 2, 3}))}, {"n", shape(0, Histogram())}}}});
  const Totals all = totals();
  const Tag& tag = tag_of(all.tags, "a");
  EXPECT_EQ(tag.nonfinite, 1);
  EXPECT_EQ(tag.mean, 2);
  EXPECT_EQ(tag.percentile_source, PercentileSource::Histogram);
  EXPECT_NEAR(tag.percentiles[kP50].value(), 2, 0.04);
  EXPECT_EQ(tag_of(all.tags, "n").nonfinite, 2);
  EXPECT_EQ(tag_of(all.tags, "n").percentile_source, PercentileSource::NoFiniteValues);
  EXPECT_FALSE(tag_of(all.tags, "n").percentiles[kP50]);
}

// In the wanted time there are ten values of 10 and five that are not finite.
TEST_F(RunTotalsOf, AMeanIsOfTheFiniteValuesWhateverTheDistributionLacks) {
  const auto values = [](double count, double sum, double nonfinite) -> Values {
    return {{"trace.observe.count", count},
            {"trace.observe.sum", sum},
            {"trace.observe.nonfinite", nonfinite}};
  };
  begun().sample(1, values(7, 4, 3)).sample(2, values(22, 104, 8));
  const Tag all = totals({"run"}, {moment(1), moment(2)}).tags.at(0);
  EXPECT_EQ(all.nonfinite, 5);
  EXPECT_EQ(all.mean, 10);
}

TEST_F(RunTotalsOf, AMeanIsUnknownIfSomeValuesMayNotBeFinite) {
  ArchiveKind old;
  old.command = "./app";
  old.metrics = {"trace.observe.count", "trace.observe.sum",  "trace.observe.max",
                 "trace.observe.rate",  "trace.agent.period", "tracing.histogram.observe"};
  for (const double count : {3.0, 4.0}) {
    begun("run", old)
        .sample(1, {{kPeriod, 1},
                    {"trace.observe.count", count},
                    {"trace.observe.sum", 6},
                    {"trace.observe.rate", count},
                    {"trace.observe.max", 3},
                    {"tracing.histogram.observe", shape(0, of_values({1, 2, 3}))}});
    const Tag all = tag({"run"});
    EXPECT_EQ(all.nonfinite.has_value(), count == 3);
    EXPECT_EQ(all.mean, count == 3 ? std::optional(2.0) : std::nullopt);
    EXPECT_EQ(all.max->is_exact, count == 3);
  }
}

// Calls so far at second 0, 1, ...; distributions at some seconds.
TEST_F(RunTotalsOf, AWantedTimeHasTheDistributionsThatAreNearest) {
  struct Case {
    std::vector<double> calls;
    std::set<std::size_t> with_text;
    double from, to;
    PercentileSource source;
    std::uint64_t binned;
    double outside;
  };
  const std::vector<Case> cases{
      {{0, 10, 10, 110, 110}, {1, 4}, 2, 3, PercentileSource::Histogram, 100, 0},
      {{0, 10, 12, 112, 115}, {1, 4}, 2, 3, PercentileSource::NearbyTimes, 105, 5},
      {{0, 10, 12, 1012, 1015}, {1, 4}, 2, 3, PercentileSource::NearlyAllCalls, 1005, 5},
      {{0, 10, 70, 72, 172, 174, 184, 300},
       {1, 3, 5, 7},
       2,
       6,
       PercentileSource::NearbyTimes,
       102,
       0},
      {{0, 10, 70, 80, 150}, {1, 4}, 2, 3, PercentileSource::IncompleteHistogram, 0, 0}};
  for (const Case& each : cases) {
    ArchiveKind kind;
    kind.command = "./app";
    ArchiveOfTags& archive = begun("run", kind);
    for (std::size_t second = 1; second < each.calls.size(); ++second) {
      Values values{{kCalls, each.calls[second]}};
      const auto count = static_cast<std::size_t>(each.calls[second]);
      if (each.with_text.contains(second))
        values[kShape] = shape(0, of_values(std::vector<double>(count, 2)));
      archive.sample(static_cast<double>(second), values);
    }
    const Tag all = totals({"run"}, {moment(each.from), moment(each.to)}).tags.at(0);
    EXPECT_EQ(all.percentile_source, each.source) << each.calls.back();
    EXPECT_EQ(all.distribution.value().total(), each.binned) << each.calls.back();
    EXPECT_EQ(all.outside, each.outside) << each.calls.back();
  }
}

// The middle of a bin may lie beyond all values.
TEST_F(RunTotalsOf, PercentilesLieBetweenExactExtremes) {
  for (const double value : {1.001, 1.03}) {
    Values values = window(10, 10, value, value);
    values[kLeast] = value;
    values[kShape] = shape(0, of_values(std::vector<double>(10, value)));
    EXPECT_EQ(tag({one_sample("all " + std::to_string(value), 1, values)}).percentiles[kP50],
              value);
    values[kRate] = 0.5;  // the window has some of the calls
    const std::string some = one_sample("some " + std::to_string(value), 1, values);
    // The minimum may be less, and the maximum is never below a percentile.
    EXPECT_EQ(tag({some}).percentiles[kP50] == value, value == 1.001);
  }
}

}  // namespace
}  // namespace pcp::trace::command
