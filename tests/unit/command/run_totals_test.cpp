// SPDX-License-Identifier: LGPL-2.1-or-later
// Totals of a run whose parts know different things of it.
#include "command/run/run_totals.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "command/show/value_range.hpp"
#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

using enum PercentileSource;
using Values = std::map<std::string, ArchiveOfTags::Values>;

// A window of ten seconds.
Values window(double calls_so_far, double calls, double max, double p99) {
  return {{kPeriod, 10},      {kCalls, calls_so_far}, {kRate, calls / 10},
          {kLeast, max / 10}, {kMost, max},           {kP99Time, p99}};
}

// The same without a metric, or with another value of it.
Values without(const char* metric, Values values) {
  values.erase(metric);
  return values;
}
Values with(const char* metric, const ArchiveOfTags::Values& value, Values values) {
  values[metric] = value;
  return values;
}

class RunTotalsOf : public OfArchives {
 protected:
  // Makes a run of a host with one sample after its begin.
  std::string one_sample(const std::string& host, double second, const Values& values) {
    begun(host, {host}).sample(second, values);
    return host;
  }
  // The tag of a run with a sample each second.
  Tag tag_after(const std::vector<Values>& samples) {
    ArchiveOfTags& archive = begun();
    for (std::size_t i = 0; i < samples.size(); ++i)
      archive.sample(static_cast<double>(i + 1), samples[i]);
    return tag();
  }
  // The same of a recording whose first sample is that of second 0.
  Tag tag_from(const std::vector<Values>& samples, const ArchiveKind& kind = {}) {
    ArchiveOfTags& archive = make("run", kind);
    for (std::size_t i = 0; i < samples.size(); ++i)
      archive.sample(static_cast<double>(i), samples[i]);
    return tag();
  }
};

TEST_F(RunTotalsOf, TheWindowWithAllCallsCountsNotThoseBeforeAndAfter) {
  const Tag all = tag_after({window(5, 5, 1, 1),
                             window(10, 10, 3, 2),
                             window(10, 5, 1, 9),
                             {{kPeriod, 10}, {kCalls, 10}}});
  EXPECT_EQ(all.percentile_source, OneWindow);
  EXPECT_EQ(all.percentiles[kP99], 2);
  EXPECT_EQ(all.max, (Extreme{3, true}));
  EXPECT_EQ(all.min, (Extreme{0.3, true}));
}

TEST_F(RunTotalsOf, WindowsOfUnknownLengthSayNothing) {
  const auto sample = [](double calls) { return without(kPeriod, window(calls, 10, 3, 2)); };
  make("run", kPmloggers).sample(0, sample(10)).sample(60, sample(20));
  EXPECT_FALSE(tag().max);
}

// An agent's window ended up to an interval before the sample.
TEST_F(RunTotalsOf, AWindowIsOfTheRunIfItBeganInTheRunForSure) {
  for (const auto& [command, second] : {std::pair("", 12), std::pair("", 11), std::pair("a", 10)}) {
    make("run", {.is_pmloggers = true, .command = command})
        .sample(0, window(1, 1, 5, 5))
        .sample(second, with(kInterval, 2, window(11, 10, 3, 2)));
    EXPECT_EQ(tag().max.has_value(), second != 11);
    EXPECT_EQ(tag().slowest.has_value(), second != 11);
    EXPECT_EQ(tag().percentiles[kP99] == 2, second != 11);
  }
}

TEST_F(RunTotalsOf, WindowsThatOverlapShowNotAllCallsThoughTheirSumIsTheSame) {
  EXPECT_EQ(tag_after({window(2, 2, 1, 1), window(4, 2, 1, 1)}).max, (Extreme{1, false}));
}

TEST_F(RunTotalsOf, RatesAreAsPreciseAsTheyAre) {
  EXPECT_TRUE(tag_after({window(1e8, 1e8 + 5, 3, 2)}).max->is_exact);
}

TEST_F(RunTotalsOf, TheSlowestMomentIsThatOfTheGreatestMaximum) {
  const Values p99_only = with(kP999Time, 8, without(kMost, window(5, 5, 1, 7)));
  const SlowestMoment of_p99 = tag_after({p99_only}).slowest.value();
  EXPECT_EQ(of_p99.value, 7);
  EXPECT_TRUE(of_p99.is_p99);
  const SlowestMoment of_maximum = tag_after({p99_only, window(10, 5, 3, 4)}).slowest.value();
  EXPECT_EQ(of_maximum.value, 3);
  EXPECT_FALSE(of_maximum.is_p99);
}

TEST_F(RunTotalsOf, ExtremesOfSeveralHostsAreThoseOfTheFarthest) {
  const std::string fast = one_sample("fast", 1, window(10, 10, 2, 2));
  const std::string slow = one_sample("slow", 2, window(10, 10, 8, 8));
  for (const auto& hosts : {std::vector{fast, slow}, std::vector{slow, fast}}) {
    const Tag all = tag(hosts);
    EXPECT_EQ(all.calls, 20);
    EXPECT_EQ(all.percentile_source, SeveralHosts);
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
    EXPECT_EQ(all.percentile_source, OneWindow);
    EXPECT_TRUE(all.max->is_exact);
  }
  EXPECT_EQ(tag({idle}).percentile_source, NoCalls);
  EXPECT_FALSE(tag({idle}).mean);
  const std::string partly = one_sample("partly", 1, window(10, 5, 3, 2));
  EXPECT_EQ(tag({idle, partly}).percentile_source, SeveralWindows);
  EXPECT_EQ(tag({idle, partly}).percentiles[kP99], std::nullopt);
}

TEST_F(RunTotalsOf, WhatOneOfSeveralDoesNotSayIsUnknown) {
  make("stock", {"saturn", true, {kCalls, kTime}}).calls(0, 0).calls(1, 4);
  const std::string ours = one_sample("ours", 1, {{kCalls, 4}, {kFailed, 1}});
  EXPECT_EQ(tag({ours}).failed, 1);
  for (const auto& archives : {std::vector<std::string>{"stock"}, {ours, "stock"}, {"stock", ours}})
    EXPECT_EQ(tag(archives).failed, std::nullopt);
}

TEST_F(RunTotalsOf, TheLastValueIsTheOneThatCameLast) {
  const std::string early = one_sample("early", 1, {{kSeen, 1}, {kSeenLast, 7}});
  const std::string late = one_sample("late", 2, {{kSeen, 1}, {kSeenLast, 8}});
  EXPECT_EQ(tag({early, late}).last, 8);
  EXPECT_EQ(tag({late, early}).last, 8);
}

TEST_F(RunTotalsOf, OneHostMayHaveSeveralArchives) {
  for (const auto& [name, begin, end] :
       {std::tuple("part", 5, 10), {"all", 0, 20}, {"next", 20, 35}})
    make(name).begin(begin).calls(end, 10);
  const Totals all = totals({"part", "all", "next"});
  EXPECT_EQ(all.run.hosts, std::vector<std::string>{"saturn"});
  EXPECT_EQ(all.tags.at(0).hosts, std::vector<std::uint16_t>{0});
  EXPECT_TRUE(all.run.gaps.empty());
  EXPECT_EQ(std::tuple(all.run.elapsed_s(), all.run.samples), std::tuple(35, 6U));
  EXPECT_EQ(all.run.interval, std::chrono::seconds(20));  // the longest
}

TEST_F(RunTotalsOf, AGapIsOneOfItsHost) {
  one_sample("saturn", 100, {{kCalls, 1}});
  begun("jupiter", {"jupiter"}).calls(10, 1).mark(11).calls(90, 1).calls(95, 1);
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
  const std::string with = one_sample("with", 1, {{kCalls, 3}, {kShape, shape({1, 2, 3})}});
  const std::string much = one_sample("too much", 1, {{kCalls, 1}, {kShape, shape({1, 2})}});
  const std::string without = one_sample("without", 1, {{kCalls, 1}});
  EXPECT_EQ(tag({with}).percentile_source, Histogram);
  EXPECT_EQ(tag({with, without}).percentile_source, IncompleteHistogram);
  EXPECT_EQ(tag({much, without}).percentile_source, IncompleteHistogram);
}

TEST_F(RunTotalsOf, AWindowsPercentilesLackWhatTheHistogramLacks) {
  EXPECT_EQ(tag_after({with(kShape, shape({1, 2, 3}, 7), window(10, 10, 3, 2))}).percentile_source,
            IncompleteHistogram);
}

TEST_F(RunTotalsOf, AHistogramOfATagThatIsNewIsOfTheRunWhateverItsBegin) {
  EXPECT_EQ(tag_after({{{kCalls, 2}, {kShape, shape(-9, histogram_of({1, 2}))}}}).percentile_source,
            Histogram);
}

// An agent's has the whole interval that was running when it began.
TEST_F(RunTotalsOf, AHistogramThatBeginsInTheRunIsOfTheRunUnlessItIsAnAgents) {
  const std::vector<Values> samples{{{kCalls, 5}},
                                    {{kCalls, 7}, {kShape, shape(0.5, histogram_of({1, 2}))}}};
  EXPECT_NE(tag_from(samples, kPmloggers).percentile_source, Histogram);
  EXPECT_EQ(tag_from(samples, kOfCommand).percentile_source, Histogram);
}

// A slow call comes just before the run, and one in the agent's last interval. As many calls lie
// between the begin of the agent's first interval and the begin of its last one as in the run.
TEST_F(RunTotalsOf, AnAgentsDistributionIsOfItsIntervalsInTheRun) {
  const auto sample = [](double calls, const std::vector<double>& values) -> Values {
    return {{kCalls, calls}, {kShape, shape(-9, histogram_of(values))}};
  };
  const Tag all = tag_from({sample(2, {1}), sample(3, {1}), sample(4, {1, 9, 2}),
                            sample(8, {1, 9, 2, 3, 3, 3, 3}), sample(9, {1, 9, 2, 3, 3, 3, 3})},
                           kPmloggers);
  EXPECT_EQ(all.percentile_source, WholeIntervals);
  EXPECT_EQ(all.distribution.value().total(), 4U);
  EXPECT_NEAR(all.percentiles[kP99].value(), 3, 0.06);
  EXPECT_NEAR(all.max.value().value, 3, 0.06);
  const auto p99 = range_of(all, Figure::P99);
  EXPECT_NEAR(p99.value().least, 3, 0.06);
  EXPECT_TRUE(std::isinf(p99->greatest));
}

TEST_F(RunTotalsOf, AMaximumOfSomeCallsIsNoLessThanTheDistributionsHighestBin) {
  const Values some = window(10, 5, 2, 2);
  const Tag all = tag_after({with(kShape, shape({1, 1, 1, 1, 1, 1, 1, 1, 2, 39}), some)});
  ASSERT_TRUE(all.slowest);
  EXPECT_EQ(all.max, (Extreme{39, false}));  // the lower bound of a bin
  EXPECT_EQ(all.slowest->value, 39);
  EXPECT_FALSE(all.slowest->at);
  const Tag higher = tag_after({with(kShape, shape({1.99}), some)});
  EXPECT_EQ(higher.max->value, 2);
  EXPECT_EQ(higher.slowest->at, moment(1));
  EXPECT_EQ(higher.slowest->within_s, 1);  // the run is shorter than the window
}

// A percentile from the distribution is the middle of a bin, which may lie above a value in the
// bin.
TEST_F(RunTotalsOf, NoPercentileIsAboveTheMaximum) {
  struct Case {
    const char* what;
    double most;
    std::vector<double> values;
    bool is_exact;
  };
  for (const auto& [what, most, values, is_exact] :
       {Case{"exact, at the bin's lower edge", 39, {1, 39, 39, 39}, true},
        Case{"not exact, at the bin's lower edge", 2, {1, 2, 39, 39}, false},
        Case{"not exact, in the highest bin", 39.05, {1, 39.5, 39.5, 39.5}, false}}) {
    SCOPED_TRACE(what);
    const Tag all =
        tag_after({with(kShape, shape(values), window(4, is_exact ? 4 : 3, most, most))});
    ASSERT_TRUE(all.max);
    EXPECT_EQ(all.max->is_exact, is_exact);
    for (const std::optional<double>& each : all.percentiles)
      EXPECT_LE(each.value(), all.max->value);
  }
}

TEST_F(RunTotalsOf, AnExactMaximumStaysAsItIs) {
  EXPECT_EQ(tag_after({with(kShape, shape({39}), window(10, 10, 2, 2))}).max, (Extreme{2, true}));
}

TEST_F(RunTotalsOf, ADistributionOfNegativeValuesRaisesNothing) {
  EXPECT_FALSE(tag_after({{{kCalls, 1}, {kShape, shape({-3})}}}).max);
}

TEST_F(RunTotalsOf, AllThatIsKnownOfASingleValueIsThatValue) {
  const std::string time = one_sample("time", 1, {{kCalls, 1}, {kTime, 1.01}});
  const std::string seen = one_sample("seen", 1, {{kSeen, 1}, {kSeenSum, 1.01}, {kSeenLast, 1.01}});
  for (const std::string& each : {time, seen}) {
    SCOPED_TRACE(each);
    const Tag all = tag({each});
    EXPECT_EQ(all.min, (Extreme{1.01, true}));
    EXPECT_EQ(all.max, (Extreme{1.01, true}));
    for (const std::optional<double>& percentile : all.percentiles) EXPECT_EQ(percentile, 1.01);
    EXPECT_EQ(all.percentile_source, OneValue);
  }
  EXPECT_FALSE(tag({time, one_sample("other", 1, {{kCalls, 1}, {kTime, 2}})}).max);
}

TEST_F(RunTotalsOf, OfASumThatHasNotBegunInTheRunNoValueIsKnown) {
  EXPECT_FALSE(tag_from({{{kCalls, 7}, {kTime, 1e9}}, {{kCalls, 8}, {kTime, 1e9 + 0.01}}}).max);
}

TEST_F(RunTotalsOf, ASingleValueThatIsNoNumberIsNone) {
  const Tag all = tag_after({{{kSeen, 1}, {kSeenSum, 0}, {kSeenLast, std::nan("")}}});
  EXPECT_FALSE(all.max);
  EXPECT_FALSE(all.percentiles[kP50]);
}

TEST_F(RunTotalsOf, ASumThatWasOrBecomesTooGreatIsUnknown) {
  constexpr double kGreatest = std::numeric_limits<double>::max();
  const auto seen = [this](const std::string& name, double sum) {
    return one_sample(name, 1, {{kSeen, 4}, {kSeenSum, sum}});
  };
  const std::string great = seen("great", kGreatest);
  const std::string known = seen("known", 1.7e308);
  EXPECT_EQ(tag({known}).mean, 1.7e308 / 4);
  for (const auto& archives :
       {std::vector{great}, std::vector{great, known}, std::vector{known, great},
        std::vector{known, seen("more", 1e308)}}) {
    EXPECT_EQ(tag(archives).sum, std::nullopt);
    EXPECT_EQ(tag(archives).mean, std::nullopt);
  }
  const Tag becomes = tag_from({{{kSeen, 1}, {kSeenSum, 1.7e308}},
                                {{kSeen, 2}, {kSeenSum, kGreatest}},
                                {{kSeen, 3}, {kSeenSum, kGreatest}}});
  EXPECT_EQ(std::tie(becomes.calls, becomes.sum), std::tuple(2, std::nullopt));
}

// Other values are counted separately.
TEST_F(RunTotalsOf, PercentilesAreOfTheFiniteValues) {
  begun().sample(1, {{kSeen, {{"a", 4.0}, {"n", 2.0}}},
                     {kSeenSum, {{"a", 6.0}, {"n", 0.0}}},
                     {kSeenNonfinite, {{"a", 1.0}, {"n", 2.0}}},
                     {kSeenShape, {{"a", shape({1, 2, 3})}, {"n", shape({})}}}});
  const Totals all = totals();
  const Tag& some = tag_of(all.tags, "a");
  EXPECT_EQ(std::tie(some.nonfinite, some.mean), std::tuple(1, 2));
  EXPECT_EQ(some.percentile_source, Histogram);
  EXPECT_NEAR(some.percentiles[kP50].value(), 2, 0.04);
  const Tag& none = tag_of(all.tags, "n");
  EXPECT_EQ(none.nonfinite, 2);
  EXPECT_EQ(none.percentile_source, NoFiniteValues);
  EXPECT_FALSE(none.percentiles[kP50]);
}

// In the wanted time there are ten values of 10 and five that are not finite.
TEST_F(RunTotalsOf, AMeanIsOfTheFiniteValuesWhateverTheDistributionLacks) {
  begun()
      .sample(1, {{kSeen, 7}, {kSeenSum, 4}, {kSeenNonfinite, 3}})
      .sample(2, {{kSeen, 22}, {kSeenSum, 104}, {kSeenNonfinite, 8}});
  const Tag all = tag({"run"}, {moment(1), moment(2)});
  EXPECT_EQ(std::tie(all.nonfinite, all.mean), std::tuple(5, 10));
}

TEST_F(RunTotalsOf, AMeanIsUnknownIfSomeValuesMayNotBeFinite) {
  const char* const rate = "trace.observe.rate";
  const char* const most = "trace.observe.max";
  const ArchiveKind old{.metrics = {kSeen, kSeenSum, most, rate, kPeriod, kSeenShape},
                        .command = "./app"};
  for (const double count : {3.0, 4.0}) {
    begun("run", old)
        .sample(1, {{kPeriod, 1},
                    {kSeen, count},
                    {kSeenSum, 6},
                    {rate, count},
                    {most, 3},
                    {kSeenShape, shape({1, 2, 3})}});
    const Tag all = tag();
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
  for (const Case& each : std::vector<Case>{
           {{0, 10, 10, 110, 110}, {1, 4}, 2, 3, Histogram, 100, 0},
           {{0, 10, 12, 112, 115}, {1, 4}, 2, 3, NearbyTimes, 105, 5},
           {{0, 10, 12, 1012, 1015}, {1, 4}, 2, 3, NearlyAllCalls, 1005, 5},
           {{0, 10, 70, 72, 172, 174, 184, 300}, {1, 3, 5, 7}, 2, 6, NearbyTimes, 102, 0},
           {{0, 10, 70, 80, 150}, {1, 4}, 2, 3, IncompleteHistogram, 0, 0}}) {
    SCOPED_TRACE(each.calls.back());
    ArchiveOfTags& archive = begun("run", kOfCommand);
    for (std::size_t second = 1; second < each.calls.size(); ++second) {
      Values values{{kCalls, each.calls[second]}};
      const auto count = static_cast<std::size_t>(each.calls[second]);
      if (each.with_text.contains(second)) values[kShape] = shape(std::vector<double>(count, 2));
      archive.sample(static_cast<double>(second), values);
    }
    const Tag all = tag({"run"}, {moment(each.from), moment(each.to)});
    EXPECT_EQ(all.percentile_source, each.source);
    EXPECT_EQ(all.distribution.value().total(), each.binned);
    EXPECT_EQ(all.outside, each.outside);
  }
}

// The middle of a bin may lie beyond all values.
TEST_F(RunTotalsOf, PercentilesLieBetweenExactExtremes) {
  for (const double value : {1.001, 1.03}) {
    const Values all = with(kShape, shape(std::vector<double>(10, value)),
                            with(kLeast, value, window(10, 10, value, value)));
    EXPECT_EQ(tag_after({all}).percentiles[kP50], value);
    // With a window of some calls the minimum may be less, and the maximum is never below a
    // percentile.
    EXPECT_EQ(tag_after({with(kRate, 0.5, all)}).percentiles[kP50] == value, value == 1.001);
  }
}

}  // namespace
}  // namespace pcp::trace::command
