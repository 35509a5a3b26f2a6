// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the archives of a run from files.
#include "command/run/archive_reader.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "command/run/groups.hpp"
#include "metrics/pmapi.hpp"
#include "support/error_of.hpp"
#include "unit/command/archive_of_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

class TotalsOf : public OfArchives {
 protected:
  Totals chosen(const LabelChoice& choice, const std::vector<std::string>& names = {"run"}) {
    ReadRequest asked = request(names);
    asked.choice = choice;
    return read_or_fail(read_totals(asked));
  }
  std::string error(const std::vector<std::string>& names = {"run"}, const Window& window = {}) {
    return error_of(read_totals(request(names, window)));
  }
};
class SeriesOf : public OfArchives {};

TEST_F(TotalsOf, ATagAreAllItsCallsAndTheirTime) {
  begun()
      .sample(1, {{kCalls, 9}, {kFailed, 1}, {kTime, 0.4}, {kFailedTime, 0.1}})
      .sample(4, {{kCalls, 37}, {kFailed, 3}, {kTime, 1.5}, {kFailedTime, 0.5}});
  const Totals all = totals();
  ASSERT_EQ(all.tags.size(), 1U);
  const Tag& tag = all.tags[0];
  EXPECT_EQ(std::tie(tag.name, tag.unit), std::tuple("a", "s"));
  EXPECT_EQ(std::tie(tag.calls, tag.failed, tag.sum), std::tuple(40, 3, 2));
  EXPECT_EQ(std::tie(tag.mean, tag.rate, tag.busy), std::tuple(0.05, 10, 0.5));
  EXPECT_EQ(std::pair(all.run.begin, all.run.end), std::pair(moment(0), moment(4)));
  EXPECT_EQ(all.run.samples, 3U);
  EXPECT_EQ(all.run.hosts, std::vector<std::string>{"saturn"});
}

// The agent tells such tags apart by their numbers, which follow the order in which they came.
TEST_F(TotalsOf, TagsThatBeginWithTheSameWordAreTheSameInAllArchives) {
  begun("saturn", {"saturn"})
      .sample(1, {{kCalls, {{"read log", 1.0}, {"read#2 page", 10.0}, {"v#3", 5.0}}}});
  begun("jupiter", {"jupiter"})
      .sample(1, {{kCalls, {{"read page", 20.0}, {"read#2 log", 2.0}, {"v#3", 5.0}}}});
  EXPECT_EQ(calls({"saturn", "jupiter"}),
            (std::map<std::string, double>{{"read log", 3}, {"read page", 30}, {"v#3", 10}}));
}

// For PCP's library a comma is between the names of two archives.
TEST_F(TotalsOf, AnArchiveBelowAFolderWithACommaAreItsOwn) {
  std::filesystem::create_directory(directory_ / "a,b");
  for (const char* const name : {"a,b/run", "a,b", "run"})
    begun(name).sample(1, {{kCalls, {{name, 10.0}}}});
  EXPECT_EQ(totals({"a,b/run"}).tags.at(0).name, "a,b/run");
  EXPECT_EQ(error({"a,b"}), path("a,b") +
                                ": PCP's library reads no archive with a comma in its name:"
                                " rename its files");
}

TEST_F(TotalsOf, CallsWithoutLabelsMayBeOfLabelSetsUnlessTheArchiveDeniesThat) {
  for (const double folding : {0.0, 1.0}) {
    begun().sample(1, {{"trace.agent.folded", 0},
                       {"trace.agent.folding", folding},
                       {kCalls, {{"a", 10.0}, {"a{x=1}", 5.0}, {"b", 5.0}}}});
    const Totals found = chosen({.where = *parse_where("x=1")});
    EXPECT_EQ(found.run.folded.size(), folding);
    EXPECT_EQ(tag_of(found.tags, "a{x=1}").folded != nullptr, folding > 0);
  }
}

// A name has the calls of all its label sets, unless some were left out.
TEST_F(TotalsOf, CallsWithoutLabelsArePartOfTheirNameUnlessTheyAreLeftOut) {
  begun().sample(1, {{"trace.agent.folding", 1}, {kCalls, {{"a", 10.0}, {"a{x=1}", 5.0}}}});
  const Totals exact = chosen({.by = {{}}});
  EXPECT_EQ(tag_of(exact.tags, "a").folded, nullptr);
  EXPECT_FALSE(exact.run.folded.at(0).is_folded);
  EXPECT_EQ(exact.run.folded.at(0).calls, 10);
  const Totals some = chosen({.by = {{}}, .where = *parse_where("x=1")});
  EXPECT_NE(tag_of(some.tags, "a").folded, nullptr);
}

TEST_F(TotalsOf, NothingIsKnownIfAnAgentHadNoRoom) {
  for (const char* const metric : {"trace.agent.folded", "trace.agent.unsplit"}) {
    const ArchiveOfTags::Values sets{{"a{x=1}", 1.0}, {"a{x=2}", 2.0}};
    begun().sample(1, {{metric, 2}, {kCalls, sets}, {kTime, sets}});
    begun("other").sample(1, {{kCalls, {{"b", 10.0}}}});
    EXPECT_EQ(totals({"run", "other"}).run.without_room, 2) << metric;
    EXPECT_EQ(totals({"other"}).run.without_room, 0);
    const Totals names = chosen({.by = {{}}}, {"run", "other"});
    EXPECT_EQ(names.run.without_room, 0);
    EXPECT_TRUE(names.imbalances.empty());
  }
}

// A program's own tag may have the name of calls that had no room.
TEST_F(TotalsOf, CallsOfOverflowHadNoRoomUnlessTheArchiveDeniesThat) {
  const auto without_room = [&](double overflowed, double folding) {
    begun().sample(1, {{"trace.agent.overflowed", overflowed},
                       {"trace.agent.folding", folding},
                       {kCalls, {{"(overflow)", 10.0}, {"b", 5.0}}}});
    return totals({"run"}).run.without_room;
  };
  EXPECT_EQ(without_room(0, 0), 0);
  EXPECT_EQ(without_room(4, 0), 10);
  EXPECT_EQ(without_room(0, 1), 10);
  begun("older").sample(1, {{kCalls, {{"(overflow)", 10.0}}}});
  EXPECT_EQ(totals({"older"}).run.without_room, 10);
}

// In a part of the run no label set has a call.
TEST_F(TotalsOf, CallsWithoutLabelsMayBeOfLabelSetsThatWereCalledBefore) {
  begun().sample(1, {{kCalls, {{"a{x=1}", 5.0}}}}).calls(2, 1).calls(3, 2);
  EXPECT_TRUE(tag_of(totals({"run"}, {moment(1.5), moment(4)}).tags, "a").is_folded);
}

// Two runs at the same time.
TEST_F(TotalsOf, TheRateOfRunsIsThatOfARun) {
  for (const char* const name : {"one", "other"})
    begun(name).sample(10, {{kCalls, 100}, {kTime, 5}});
  ReadRequest runs = request({"one", "other"}, {});
  runs.are_runs = true;
  const Totals all = *read_totals(runs);
  EXPECT_EQ(all.tags[0].rate, 10);
  EXPECT_EQ(all.tags[0].busy, 0.5);
  EXPECT_EQ(all.run.end, moment(10));
  EXPECT_EQ(totals({"one", "other"}).tags[0].rate, 20);  // parts of one run
}

// Sums of observations are no time.
TEST_F(TotalsOf, TagsWithMostTimeComeFirstThenThoseWithMostCalls) {
  begun().sample(1, {{kCalls, {{"often", 100.0}, {"long", 1.0}}},
                     {kTime, {{"often", 1.0}, {"long", 5.0}}},
                     {kSeen, {{"large", 1.0}}},
                     {kSeenSum, {{"large", 1e9}}},
                     {"trace.point.count", {{"few", 3.0}, {"many", 1e6}}}});
  std::vector<std::string> names;
  for (const Tag& tag : totals().tags) names.push_back(tag.name);
  EXPECT_EQ(names, (std::vector<std::string>{"long", "often", "many", "few", "large"}));
}

TEST_F(TotalsOf, CountersAndObservationsHaveTheirOwn) {
  begun().sample(1, {{"trace.counter.count", {{"c", 2.0}}},
                     {"trace.counter.total", {{"c", 8192.0}}},
                     {kSeen, {{"o", 2.0}}},
                     {kSeenSum, {{"o", 7.0}}},
                     {kSeenLast, {{"o", 4.0}}}});
  const Totals all = totals();
  const Tag& counter = tag_of(all.tags, "c");
  EXPECT_EQ(std::tie(counter.counted, counter.sum), std::tuple(8192, std::nullopt));
  const Tag& seen = tag_of(all.tags, "o");
  EXPECT_EQ(std::tie(seen.last, seen.mean, seen.busy), std::tuple(4, 3.5, std::nullopt));
}

TEST_F(TotalsOf, WindowsThatHoldAllCallsGiveTheExtremes) {
  ArchiveOfTags& archive = begun();
  for (int second = 1; second <= 3; ++second)
    archive.sample(second, {{kPeriod, 1},
                            {kCalls, 10.0 * second},
                            {kRate, 10},
                            {kLeast, 0.1 * second},
                            {kMost, second == 2 ? 9.0 : 1.0}});
  const Tag all = tag();
  EXPECT_EQ(all.min, (Extreme{0.1, true}));
  EXPECT_EQ(all.max, (Extreme{9, true}));
  EXPECT_EQ(all.slowest.value().at, moment(2));
  EXPECT_EQ(all.slowest->value, 9);
  EXPECT_EQ(all.percentile_source, PercentileSource::NotRecorded);
}

// Four calls of 1 s, and two of 3 s and 5 s that failed.
TEST_F(TotalsOf, TimesAreOfAllCallsOrOfThoseThatAreWanted) {
  begun().sample(1, {{kPeriod, 1},
                     {kCalls, 4},
                     {kTime, 4},
                     {kRate, 4},
                     {kLeast, 1},
                     {kMost, 1},
                     {kShape, shape({1, 1, 1, 1})},
                     {kFailed, 2},
                     {kFailedTime, 8},
                     {kFailedRate, 2},
                     {kFailedLeast, 3},
                     {kFailedMost, 5},
                     {kFailedShape, shape({3, 5})}});
  struct Expected {
    std::optional<Ending> times_of;
    double sum, mean, min, max, median;
  };
  for (const auto& [times_of, sum, mean, min, max, median] :
       {Expected{{}, 12, 2, 1, 5, 1}, Expected{Ending::Completed, 4, 1, 1, 1, 1},
        Expected{Ending::Failed, 8, 4, 3, 5, 3}}) {
    ReadRequest wanted = request();
    wanted.times_of = times_of;
    const Model found = read_or_fail(read_model(wanted));
    const Tag& tag = found.tags.at(0);
    EXPECT_EQ(std::tie(tag.calls, tag.failed, tag.rate), std::tuple(6, 2, 6));
    EXPECT_EQ(std::tie(tag.sum, tag.mean), std::tie(sum, mean));
    EXPECT_EQ(tag.min, (Extreme{min, true}));
    EXPECT_EQ(tag.max, (Extreme{max, true}));
    EXPECT_EQ(tag.slowest.value().value, max);
    EXPECT_EQ(tag.percentile_source, PercentileSource::Histogram);
    EXPECT_NEAR(tag.percentiles[kP50].value(), median, 0.02 * median);
    Series course = found.series.at(0);
    for (const auto& [quantity, value] : {std::pair(Quantity::Calls, 6.),
                                          {Quantity::Failed, 2.},
                                          {Quantity::Sum, sum},
                                          {Quantity::Max, max}})
      EXPECT_EQ(course.of(quantity), std::vector{static_cast<float>(value)});
    ASSERT_EQ(course.histograms.size(), 1U);
    EXPECT_EQ(static_cast<double>(course.histograms[0].values.total()), finite_calls(tag));
  }
}

// The agent knows no sum once a failure came without a duration, until it restarts.
TEST_F(TotalsOf, AllTimesAreUnknownIfSomeFailedCallsHaveNone) {
  begun()
      .sample(1, {{kPeriod, 1},
                  {kCalls, 50},
                  {kTime, 50},
                  {kRate, 50},
                  {kMost, 1},
                  {kFailed, 0},
                  {kFailedTime, 0}})
      .sample(2, {{kCalls, 99},
                  {kTime, 99},
                  {kRate, 49},
                  {kMost, 1},
                  {kShape, shape(std::vector<double>(99, 1))},
                  {kFailed, 1},
                  {kFailedRate, 1}});
  const Tag all = tag();
  EXPECT_TRUE(all.lacks_times);
  EXPECT_EQ(std::tie(all.calls, all.failed, all.sum, all.mean),
            std::tuple(100, 1, std::nullopt, std::nullopt));
  EXPECT_EQ(all.max, (Extreme{1, false}));
  EXPECT_EQ(all.percentile_source, PercentileSource::NearlyAllCalls);
  const Tag completed = with_times_of(all, Ending::Completed);
  EXPECT_FALSE(completed.lacks_times);
  EXPECT_EQ(completed.mean, 1);
  EXPECT_EQ(completed.max, (Extreme{1, true}));
}

TEST_F(TotalsOf, AHistogramThatLacksOneInAHundredIsSaidToDoSo) {
  for (const auto& [missing, source] : {std::pair(10U, PercentileSource::NearlyAllCalls),
                                        {11U, PercentileSource::IncompleteHistogram}}) {
    const std::string lacking = shape(std::vector<double>(990, 2.0), missing);
    begun().sample(1, {{kCalls, 990.0 + missing}, {kShape, lacking}});
    const Tag all = tag();
    EXPECT_EQ(all.percentile_source, source);
    EXPECT_EQ(all.percentiles[kP99].has_value(), missing == 10);
    EXPECT_TRUE(all.distribution);
  }
}

// As with an agent that runs on: calls of its present interval are missing.
TEST_F(TotalsOf, AHistogramOfWholeIntervalsGivesTheirPercentiles) {
  for (const auto& [calls, source] : {std::pair(6.0, PercentileSource::WholeIntervals),
                                      std::pair(2.0, PercentileSource::IncompleteHistogram),
                                      std::pair(7.0, PercentileSource::IncompleteHistogram)}) {
    begun().sample(1, {{kCalls, calls}, {kShape, shape({1, 2, 3})}});
    EXPECT_EQ(tag().percentile_source, source) << calls;
  }
}

TEST_F(TotalsOf, AnArchiveWhoseEndIsMissingIsReadUpToThere) {
  ArchiveOfTags& archive = begun("run", {"saturn", true, {kCalls}}).calls(1, 1).calls(2, 2);
  EXPECT_TRUE(totals().run.incomplete.empty());
  archive.finish();
  const std::string volume = path() + ".0";
  std::filesystem::resize_file(volume, std::filesystem::file_size(volume) - 5);
  const Totals found = totals();
  EXPECT_EQ(found.tags.at(0).calls, 1);
  ASSERT_EQ(found.run.incomplete.size(), 1U);
  EXPECT_EQ(found.run.incomplete[0].archive, path());
  EXPECT_EQ(found.run.incomplete[0].why, "its end is missing");
}

TEST_F(TotalsOf, ARecordingIsCompleteIfItSaysSoAtItsEnd) {
  const auto why_incomplete = [this](const std::string& end, bool has_gap,
                                     const Window& window = {}) {
    const std::string name = "run " + end;
    ArchiveOfTags& archive = begun(name).calls(1, 1);
    if (has_gap) archive.mark(2).say(3, kHasAll);
    archive.calls(3, 2);
    archive.end(end);
    const Totals found = totals({name}, window);
    EXPECT_EQ(found.run.samples, window.end == WallTime::max() ? 3U : 2U);
    return found.run.incomplete.empty() ? "" : found.run.incomplete.front().why;
  };
  EXPECT_EQ(why_incomplete("complete", false), "");
  EXPECT_EQ(why_incomplete("complete", false, {moment(0), moment(2)}), "");
  EXPECT_EQ(why_incomplete("no room", false), "no room");
  EXPECT_EQ(why_incomplete("no room", false, {moment(0), moment(2)}), "no room");
  EXPECT_EQ(why_incomplete("", false),
            "it has no end mark: the recording still runs, or record was killed");
  EXPECT_TRUE(why_incomplete("complete", true).starts_with("it has gaps: "));
}

TEST_F(TotalsOf, WhatAHistogramHadBeforeTheRunIsTakenOffIt) {
  make("run", kOfCommand)
      .sample(0, {{kCalls, 2}, {kShape, shape(-9, histogram_of({8, 8}))}})
      .sample(1, {{kCalls, 3}, {kShape, shape(-9, histogram_of({8, 8, 1}))}});
  const Tag all = tag();
  EXPECT_EQ(all.percentile_source, PercentileSource::Histogram);
  EXPECT_NEAR(all.percentiles[kP99].value(), 1, 0.02);
}

TEST_F(TotalsOf, ATextThatIsNoHistogramIsNone) {
  begun().sample(1, {{kCalls, 1}, {kShape, std::string("1 17 what")}});
  const Tag all = tag();
  EXPECT_FALSE(all.distribution);
  EXPECT_EQ(all.percentiles[kP50], std::nullopt);
}

// Percentiles of all are not means of the hosts' percentiles.
TEST_F(TotalsOf, HistogramsOfSeveralHostsMerge) {
  for (const auto& [host, count, value] : {std::tuple("saturn", 980U, 1.0), {"jupiter", 20U, 9.0}})
    begun(host, {host})
        .sample(1, {{kCalls, count}, {kShape, shape(std::vector<double>(count, value))}});
  const Tag tag = totals({"saturn", "jupiter"}).tags.at(0);
  EXPECT_EQ(tag.calls, 1000);
  EXPECT_EQ(tag.hosts.size(), 2U);
  ASSERT_EQ(tag.percentile_source, PercentileSource::Histogram);
  EXPECT_NEAR(tag.percentiles[kP95].value(), 1, 0.02);
  EXPECT_NEAR(tag.percentiles[kP99].value(), 9, 0.18);
}

TEST_F(TotalsOf, GapsAreNoTimeOfTheRun) {
  begun().calls(10, 10).mark(11).calls(90, 50).calls(100, 60);
  const Totals all = totals();
  EXPECT_EQ(all.run.elapsed_s(), 20);
  ASSERT_EQ(all.run.gaps.size(), 1U);
  EXPECT_EQ(all.run.gaps[0].begin, moment(10));
  EXPECT_EQ(all.run.gaps[0].end, moment(90));
  EXPECT_EQ(all.tags.at(0).rate, 1);
}

TEST_F(TotalsOf, CallsOfOneAgentAndTimeInTwoArchivesAreAnError) {
  const auto write = [this](const std::string& name, double agent, double first) {
    make(name).sample(first, {{kStarted, agent}, {kCalls, 1}}).calls(first + 2, 2);
  };
  write("run", 5, 0);
  write("copy", 5, 1);
  write("later", 5, 3);
  write("other", 6, 0);
  EXPECT_EQ(error({"run", "copy"}), path("copy") + ": has calls of the same agent and time as " +
                                        path("run") + "; name one of them");
  EXPECT_EQ(error({"run", "later", "other"}), "");
}

// pmlogextract may have left out the first sample, but not the statement.
TEST_F(TotalsOf, AStatementIsOnlyOfTheSampleAtItsTime) {
  for (const double second : {0.0, 1.0}) {
    make("run", {.command = "x", .is_part = true})
        .say(0, kBegins)
        .calls(second, 1)
        .calls(2, 3)
        .end(std::string(kComplete));
    EXPECT_EQ(totals().run.incomplete.empty(), second == 0);
  }
}

TEST_F(TotalsOf, AfterAMarkInstancesMayHaveOtherNames) {
  ArchiveOfTags& archive = make("run", {"saturn", true, {kCalls}})
                               .sample(1, {{kCalls, {{"a", 1.0}, {"b", 1.0}}}})
                               .mark(2)
                               .rename(TraceType::Transact, 3, 1, "c");  // a was number 1
  archive.sample(3, {{kCalls, {{"c", 10.0}, {"b", 1.0}}}});
  archive.sample(4, {{kCalls, {{"c", 30.0}, {"b", 2.0}}}});
  EXPECT_EQ(calls(), (std::map<std::string, double>{{"a", 0}, {"b", 1}, {"c", 20}}));
}

// Or a tag would have no calls in a time in which none were read.
TEST_F(TotalsOf, OnlyReadingsOfCallsBeginAndEndTheTimeOfAPmlogger) {
  ArchiveOfTags& archive = make("run", {"saturn", true, {kCalls, kShape}});
  const auto shape_at = [&](double second) {
    archive.sample(second, {{kShape, shape({1, 2, 3})}});
  };
  shape_at(5);
  archive.calls(10, 10);
  shape_at(15);
  archive.calls(20, 20);
  shape_at(25);
  const Totals all = totals();
  EXPECT_EQ(all.run.begin, moment(10));
  EXPECT_EQ(all.run.end, moment(20));
  EXPECT_EQ(all.tags.at(0).rate, 1);
  EXPECT_TRUE(all.run.incomplete.empty());
  EXPECT_EQ(error({"run"}, {moment(21), moment(30)}),
            path() + ": has no samples of calls in the requested time");
}

TEST_F(TotalsOf, CallsAndFailuresOfDifferentTimesAreIncomplete) {
  begun("run", {"saturn", true, {kCalls, kFailed}}).calls(1, 1).sample(2, {{kFailed, 1}});
  ASSERT_EQ(totals().run.incomplete.size(), 1U);
  EXPECT_TRUE(totals().run.incomplete[0].why.starts_with(
      "its counts, failures and sums were logged at different times"));
}

TEST_F(TotalsOf, AnArchiveWithoutASampleOrOfAnotherProgramIsAnError) {
  make().end("");
  EXPECT_EQ(error(), path() + ": not a readable archive of PCP: " + pmErrStr(PM_ERR_NODATA));
  make("run", {"saturn", true, {"trace.control.period"}}).sample(0, {{"trace.control.period", 60}});
  EXPECT_TRUE(has(error(), "has no counts of a trace agent"));
}

TEST_F(SeriesOf, PointsAreTheTimesBetweenSamples) {
  begun()
      .sample(1, {{kCalls, 10}, {kMost, 0.5}})
      .sample(2, {{kPeriod, 1}})
      .sample(4, {{kCalls, 30}, {kMost, 0.25}});
  const Model all = model();
  EXPECT_EQ(all.fine.edges, (std::vector<WallTime>{moment(0), moment(1), moment(2), moment(4)}));
  ASSERT_EQ(all.series.size(), 1U);
  EXPECT_EQ(all.series[0].of(Quantity::Calls), (std::vector<float>{10, 0, 20}));
  EXPECT_EQ(known(all.series[0].of(Quantity::Max)), (std::vector<float>{0.5, -1, 0.25}));
  EXPECT_TRUE(all.series[0].of(Quantity::Min).empty());
}

TEST_F(SeriesOf, NothingIsKnownOfGaps) {
  begun().calls(1, 10).mark(2).calls(5, 30).calls(6, 31);
  EXPECT_EQ(known(model().series.at(0).of(Quantity::Calls)), (std::vector<float>{10, -1, 1}));
}

TEST_F(SeriesOf, ALastValueStaysUntilThereIsAnother) {
  begun()
      .sample(1, {{kPeriod, 1}})
      .sample(2, {{kSeen, 1}, {kSeenLast, 7}})
      .sample(3, {{kPeriod, 1}})
      .sample(4, {{kSeen, 2}, {kSeenLast, 8}});
  EXPECT_EQ(known(model().series.at(0).of(Quantity::Last)), (std::vector<float>{-1, 7, 7, 8}));
}

TEST_F(SeriesOf, DistributionsAreCutIntoSlices) {
  begun()
      .sample(1, {{kCalls, 2}, {kShape, shape(0.5, histogram_of({1, 1}))}})
      .sample(2, {{kCalls, 3}, {kShape, shape(0.5, histogram_of({1, 1, 4}))}})
      .sample(3, {{kCalls, 1}, {kShape, shape(2.5, histogram_of({9}))}});
  const std::vector<TimedHistogram> slices = model().series.at(0).histograms;
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0].begin, moment(0));
  EXPECT_EQ(slices[0].end, moment(1));
  EXPECT_EQ(slices[0].values.total(), 2U);
  EXPECT_EQ(slices[1].values.total(), 1U);
  EXPECT_NEAR(slices[1].values.quantile(0.5), 4, 0.1);
  EXPECT_EQ(slices[2].begin, moment(2.5));
  EXPECT_NEAR(slices[2].values.quantile(0.5), 9, 0.2);
}

TEST_F(SeriesOf, ASliceLacksTheTimeBeforeItsFirstCall) {
  ArchiveOfTags& archive = begun();
  for (const int second : {1, 2, 4, 5}) archive.sample(second, {{kPeriod, 1}});
  archive.sample(6, {{kCalls, 1}, {kShape, shape(5.5, histogram_of({1}))}});
  for (const int second : {7, 8}) archive.sample(second, {{kPeriod, 1}});
  archive.sample(9, {{kCalls, 2}, {kShape, shape(5.5, histogram_of({1, 4}))}});
  const std::vector<TimedHistogram> slices = model().series.at(0).histograms;
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].begin, moment(5));
  EXPECT_EQ(slices[1].begin, moment(8));
}

TEST_F(SeriesOf, TheFirstFiftyAreFineTheNextFiveHundredAreCoarse) {
  constexpr int kTags = 600;
  constexpr int kSamples = 4000;
  ArchiveOfTags& archive = begun();
  ArchiveOfTags::Values values;
  for (int i = 0; i < kTags; ++i) values["tag " + std::to_string(i)] = 1.0 * (kTags - i);
  archive.sample(1, {{kCalls, values}});
  for (int second = 2; second <= kSamples; ++second)
    archive.sample(second, {{kCalls, {{"tag 0", 1000.0 + second}}}});
  const Model all = model();
  EXPECT_LE(all.fine.points(), 3600U);
  EXPECT_GT(all.fine.points(), 1800U);
  EXPECT_LE(all.coarse.points(), 120U);
  EXPECT_GT(all.coarse.points(), 60U);
  ASSERT_EQ(all.series.size(), 550U);
  EXPECT_FALSE(all.series[49].is_coarse);
  EXPECT_TRUE(all.series[50].is_coarse);
  for (const std::size_t i : {0U, 300U}) {
    double sum = 0;
    for (const float calls : all.series[i].of(Quantity::Calls)) sum += static_cast<double>(calls);
    EXPECT_EQ(sum, all.tags[all.series[i].tag].calls) << i;
  }
}

TEST_F(SeriesOf, HostsThatAreSampledAtOtherTimesAddUp) {
  for (const double shift : {0.0, 0.5}) {
    const std::string host = shift == 0 ? "saturn" : "jupiter";
    ArchiveOfTags& archive = make(host, {host}).begin(shift);
    for (int second = 1; second <= 10; ++second)
      archive.sample(second + shift, {{kCalls, 10.0 * second}, {kP99Time, 1}});
  }
  const Model all = model({"saturn", "jupiter"});
  const Series& series = all.series.at(0);
  double sum = 0;
  for (const float calls : series.of(Quantity::Calls)) sum += static_cast<double>(calls);
  EXPECT_NEAR(sum, 200, 1e-3);
  EXPECT_NEAR(series.of(Quantity::Calls)[5], 20, 1.5);
  EXPECT_TRUE(series.of(Quantity::P99).empty());
}

}  // namespace
}  // namespace pcp::trace::command
