// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the archives of a run from files.
#include "command/run/archive_reader.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "metrics/pmapi.hpp"
#include "support/error_of.hpp"
#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

const std::set<std::string> kStock{"trace.control.period", kCalls, kRate, kTime, kLeast, kMost};

class TotalsOf : public OfArchives {};
class SeriesOf : public OfArchives {};

TEST_F(TotalsOf, ATagAreAllItsCallsAndTheirTime) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"a", 10.0}}}, {kFailed, {{"a", 1.0}}}, {kTime, {{"a", 0.5}}}});
  archive.sample(4, {{kCalls, {{"a", 40.0}}}, {kFailed, {{"a", 3.0}}}, {kTime, {{"a", 2.0}}}});
  const Totals all = totals();
  ASSERT_EQ(all.tags.size(), 1U);
  const Tag& tag = all.tags[0];
  EXPECT_EQ(tag.name, "a");
  EXPECT_EQ(tag.unit, "s");
  EXPECT_EQ(tag.calls, 40);
  EXPECT_EQ(tag.failed, 3);
  EXPECT_EQ(tag.sum, 2);
  EXPECT_EQ(tag.mean, 0.05);
  EXPECT_EQ(tag.rate, 10);
  EXPECT_EQ(tag.busy, 0.5);
  EXPECT_EQ(all.run.begin, moment(0));
  EXPECT_EQ(all.run.end, moment(4));
  EXPECT_EQ(all.run.samples, 3U);
  EXPECT_EQ(all.run.hosts, std::vector<std::string>{"saturn"});
}

// The agent tells such tags apart by their numbers, which follow the order in which they came.
TEST_F(TotalsOf, TagsThatBeginWithTheSameWordAreTheSameInAllArchives) {
  ArchiveOfTags& one = make("saturn", {"saturn"});
  one.begin(0).sample(1, {{kCalls, {{"read log", 1.0}, {"read#2 page", 10.0}, {"v#3", 5.0}}}});
  ArchiveOfTags& other = make("jupiter", {"jupiter"});
  other.begin(0).sample(1, {{kCalls, {{"read page", 20.0}, {"read#2 log", 2.0}, {"v#3", 5.0}}}});
  std::map<std::string, double> calls;
  for (const Tag& tag : totals({"saturn", "jupiter"}).tags) calls[tag.name] = tag.calls;
  EXPECT_EQ(calls,
            (std::map<std::string, double>{{"read log", 3}, {"read page", 30}, {"v#3", 10}}));
}

// For PCP's library a comma is between the names of two archives.
TEST_F(TotalsOf, AnArchiveBelowAFolderWithACommaAreItsOwn) {
  std::filesystem::create_directory(directory_ / "a,b");
  for (const char* const name : {"a,b/run", "a,b", "run"})
    make(name).begin(0).sample(1, {{kCalls, {{name, 10.0}}}});
  EXPECT_EQ(totals({"a,b/run"}).tags.at(0).name, "a,b/run");
  EXPECT_EQ(error_of(read_totals(request({"a,b"}, {}))),
            path("a,b") +
                ": PCP's library reads no archive with a comma in its name:"
                " rename its files");
}

TEST_F(TotalsOf, CallsWithoutLabelsMayBeOfLabelSetsUnlessTheArchiveDeniesThat) {
  for (const double folding : {0.0, 1.0}) {
    make().begin(0).sample(1, {{"trace.agent.folded", {{"", 0.0}}},
                               {"trace.agent.folding", {{"", folding}}},
                               {kCalls, {{"a", 10.0}, {"a{x=1}", 5.0}, {"b", 5.0}}}});
    ReadRequest of_x = request({"run"}, {});
    of_x.choice.where = *parse_where("x=1");
    const Totals found = *read_totals(of_x);
    EXPECT_EQ(found.run.folded.size(), folding);
    EXPECT_EQ(tag_of(found.tags, "a{x=1}").folded != nullptr, folding > 0);
  }
}

// A name has the calls of all its label sets, unless some were left out.
TEST_F(TotalsOf, CallsWithoutLabelsArePartOfTheirNameUnlessTheyAreLeftOut) {
  make().begin(0).sample(
      1, {{"trace.agent.folding", {{"", 1.0}}}, {kCalls, {{"a", 10.0}, {"a{x=1}", 5.0}}}});
  ReadRequest by_name = request({"run"}, {});
  by_name.choice.by.emplace();
  const Totals exact = *read_totals(by_name);
  EXPECT_EQ(tag_of(exact.tags, "a").folded, nullptr);
  EXPECT_FALSE(exact.run.folded.at(0).is_folded);
  EXPECT_EQ(exact.run.folded.at(0).calls, 10);
  by_name.choice.where = *parse_where("x=1");
  EXPECT_NE(tag_of(read_totals(by_name)->tags, "a").folded, nullptr);
}

TEST_F(TotalsOf, NothingIsKnownIfAnAgentHadNoRoom) {
  for (const char* const metric : {"trace.agent.folded", "trace.agent.unsplit"}) {
    const ArchiveOfTags::Values sets{{"a{x=1}", 1.0}, {"a{x=2}", 2.0}};
    make().begin(0).sample(1, {{metric, {{"", 2.0}}}, {kCalls, sets}, {kTime, sets}});
    make("other").begin(0).sample(1, {{kCalls, {{"b", 10.0}}}});
    EXPECT_EQ(totals({"run", "other"}).run.without_room, 2) << metric;
    EXPECT_EQ(totals({"other"}).run.without_room, 0);
    ReadRequest by_name = request({"run", "other"}, {});
    by_name.choice.by.emplace();
    const Totals names = *read_totals(by_name);
    EXPECT_EQ(names.run.without_room, 0);
    EXPECT_TRUE(names.imbalances.empty());
  }
}

// A program's own tag may have the name of calls that had no room.
TEST_F(TotalsOf, CallsOfOverflowHadNoRoomUnlessTheArchiveDeniesThat) {
  const auto without_room = [&](double overflowed, double folding) {
    make().begin(0).sample(1, {{"trace.agent.overflowed", {{"", overflowed}}},
                               {"trace.agent.folding", {{"", folding}}},
                               {kCalls, {{"(overflow)", 10.0}, {"b", 5.0}}}});
    return totals({"run"}).run.without_room;
  };
  EXPECT_EQ(without_room(0, 0), 0);
  EXPECT_EQ(without_room(4, 0), 10);
  EXPECT_EQ(without_room(0, 1), 10);
  make("older").begin(0).sample(1, {{kCalls, {{"(overflow)", 10.0}}}});
  EXPECT_EQ(totals({"older"}).run.without_room, 10);
}

// In a part of the run no label set has a call.
TEST_F(TotalsOf, CallsWithoutLabelsMayBeOfLabelSetsThatWereCalledBefore) {
  make().begin(0);
  archives_.back().sample(1, {{kCalls, {{"a{x=1}", 5.0}}}}).sample(2, {{kCalls, {{"a", 1.0}}}});
  archives_.back().sample(3, {{kCalls, {{"a", 2.0}}}});
  EXPECT_TRUE(tag_of(totals({"run"}, {moment(1.5), moment(4)}).tags, "a").is_folded);
}

// Two runs at the same time.
TEST_F(TotalsOf, TheRateOfRunsIsThatOfARun) {
  for (const char* const name : {"one", "other"})
    make(name).begin(0).sample(10, {{kCalls, {{"a", 100.0}}}, {kTime, {{"a", 5.0}}}});
  ReadRequest runs = request({"one", "other"}, {});
  runs.are_runs = true;
  const Totals all = *read_totals(runs);
  EXPECT_EQ(all.tags[0].rate, 10);
  EXPECT_EQ(all.tags[0].busy, 0.5);
  EXPECT_EQ(all.run.end, moment(10));
  EXPECT_EQ(totals({"one", "other"}).tags[0].rate, 20);  // parts of one run
}

TEST_F(TotalsOf, TagsWithMostTimeComeFirstThenThoseWithMostCalls) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"often", 100.0}, {"long", 1.0}}},
                     {kTime, {{"often", 1.0}, {"long", 5.0}}},
                     {"trace.point.count", {{"few", 3.0}, {"many", 1e6}}}});
  std::vector<std::string> names;
  for (const Tag& tag : totals().tags) names.push_back(tag.name);
  EXPECT_EQ(names, (std::vector<std::string>{"long", "often", "many", "few"}));
}

TEST_F(TotalsOf, CountersAndObservationsHaveTheirOwn) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{"trace.counter.count", {{"c", 2.0}}},
                     {"trace.counter.total", {{"c", 8192.0}}},
                     {"trace.observe.count", {{"o", 2.0}}},
                     {"trace.observe.sum", {{"o", 7.0}}},
                     {"trace.observe.value", {{"o", 4.0}}}});
  const Totals all = totals();
  EXPECT_EQ(tag_of(all.tags, "c").counted, 8192);
  EXPECT_EQ(tag_of(all.tags, "c").sum, std::nullopt);
  EXPECT_EQ(tag_of(all.tags, "o").last, 4);
  EXPECT_EQ(tag_of(all.tags, "o").mean, 3.5);
  EXPECT_EQ(tag_of(all.tags, "o").busy, std::nullopt);
}

TEST_F(TotalsOf, WindowsThatHoldAllCallsGiveTheExtremes) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  for (int second = 1; second <= 3; ++second)
    archive.sample(second, {{kPeriod, {{"", 1.0}}},
                            {kCalls, {{"a", 10.0 * second}}},
                            {kRate, {{"a", 10.0}}},
                            {kLeast, {{"a", 0.1 * second}}},
                            {kMost, {{"a", second == 2 ? 9.0 : 1.0}}}});
  const Tag tag = totals().tags.at(0);
  ASSERT_TRUE(tag.min && tag.max && tag.slowest);
  EXPECT_EQ(tag.min->value, 0.1);
  EXPECT_EQ(tag.max->value, 9);
  EXPECT_TRUE(tag.min->is_exact && tag.max->is_exact);
  EXPECT_EQ(tag.slowest->at, moment(2));
  EXPECT_EQ(tag.slowest->value, 9);
  EXPECT_EQ(tag.percentile_source, PercentileSource::NotRecorded);
}

TEST_F(TotalsOf, ExtremesOfSomeCallsAreNotExact) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  for (int second = 10; second <= 30; second += 10)  // the windows cover one second of ten
    archive.sample(second, {{kPeriod, {{"", 1.0}}},
                            {kCalls, {{"a", 10.0 * second}}},
                            {kRate, {{"a", 10.0}}},
                            {kMost, {{"a", 1.0}}}});
  const Tag tag = totals().tags.at(0);
  ASSERT_TRUE(tag.max);
  EXPECT_FALSE(tag.max->is_exact);
}

TEST_F(TotalsOf, AWindowThatReachesBackBeforeTheRunSaysNothing) {
  ArchiveOfTags& archive = make("run", {"saturn", true});
  for (int second = 0; second <= 20; second += 10)
    archive.sample(second, {{kPeriod, {{"", 60.0}}},
                            {kCalls, {{"a", 100.0 + second}}},
                            {kRate, {{"a", 1.0}}},
                            {kMost, {{"a", 77.0}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_EQ(tag.calls, 20);
  EXPECT_FALSE(tag.max);
  EXPECT_FALSE(tag.slowest);
}

TEST_F(TotalsOf, OneWindowOfAllCallsGivesItsPercentiles) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(10, {{kPeriod, {{"", 60.0}}},
                      {kCalls, {{"a", 30.0}}},
                      {kRate, {{"a", 0.5}}},
                      {kMost, {{"a", 3.0}}},
                      {kP99Time, {{"a", 2.5}}}});
  // The window has moved on, and there were no calls since.
  archive.sample(70, {{kPeriod, {{"", 60.0}}}, {kCalls, {{"a", 30.0}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_EQ(tag.percentile_source, PercentileSource::OneWindow);
  EXPECT_EQ(tag.percentiles[kP99], 2.5);
  ASSERT_TRUE(tag.max);
  EXPECT_TRUE(tag.max->is_exact);
}

TEST_F(TotalsOf, PercentilesOfManyWindowsStayUnknown) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  for (int second = 1; second <= 2; ++second)
    archive.sample(second, {{kPeriod, {{"", 1.0}}},
                            {kCalls, {{"a", 10.0 * second}}},
                            {kRate, {{"a", 10.0}}},
                            {kP99Time, {{"a", 2.5}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_EQ(tag.percentile_source, PercentileSource::SeveralWindows);
  EXPECT_EQ(tag.percentiles[kP99], std::nullopt);
  ASSERT_TRUE(tag.slowest);
  EXPECT_TRUE(tag.slowest->is_p99);
}

TEST_F(TotalsOf, AHistogramOfAllCallsGivesPercentiles) {
  std::vector<double> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(i * 0.001);
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"a", 1000.0}}}, {kShape, {{"a", shape(0.5, of_values(values))}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_EQ(tag.percentile_source, PercentileSource::Histogram);
  EXPECT_NEAR(tag.percentiles[kP50].value(), 0.5, 0.01);
  EXPECT_NEAR(tag.percentiles[kP99].value(), 0.99, 0.02);
  ASSERT_TRUE(tag.distribution);
  EXPECT_EQ(tag.distribution->total(), 1000U);
}

TEST_F(TotalsOf, AHistogramThatLacksOneInAHundredIsSaidToDoSo) {
  const std::vector<double> values(990, 2.0);
  for (const auto& [calls, source] : {std::pair(1000.0, PercentileSource::NearlyAllCalls),
                                      std::pair(1001.0, PercentileSource::IncompleteHistogram)}) {
    ArchiveOfTags& archive = make();
    archive.begin(0);
    const auto missing = static_cast<std::uint64_t>(calls) - 990;
    const std::string lacking = shape(0, of_values(values), missing);
    archive.sample(1, {{kCalls, {{"a", calls}}}, {kShape, {{"a", lacking}}}});
    const Tag tag = totals().tags.at(0);
    EXPECT_EQ(tag.percentile_source, source);
    EXPECT_EQ(tag.percentiles[kP99].has_value(), calls == 1000);
  }
}

TEST_F(TotalsOf, AHistogramThatLacksCallsGivesNoPercentiles) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"a", 4.0}}}, {kShape, {{"a", shape(0, of_values({1, 2, 3}), 1)}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_EQ(tag.percentile_source, PercentileSource::IncompleteHistogram);
  EXPECT_EQ(tag.percentiles[kP50], std::nullopt);
  EXPECT_TRUE(tag.distribution);
}

// As with an agent that runs on: calls of its present interval are missing.
TEST_F(TotalsOf, AHistogramOfWholeIntervalsGivesTheirPercentiles) {
  for (const auto& [calls, source] : {std::pair(6.0, PercentileSource::WholeIntervals),
                                      std::pair(2.0, PercentileSource::IncompleteHistogram),
                                      std::pair(7.0, PercentileSource::IncompleteHistogram)}) {
    ArchiveOfTags& archive = make();
    archive.begin(0);
    archive.sample(1,
                   {{kCalls, {{"a", calls}}}, {kShape, {{"a", shape(0, of_values({1, 2, 3}))}}}});
    EXPECT_EQ(totals().tags.at(0).percentile_source, source) << calls;
  }
}

TEST_F(TotalsOf, AnArchiveWhoseEndIsMissingIsReadUpToThere) {
  ArchiveOfTags& archive = make("run", {"saturn", true, {kCalls}});
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"a", 1.0}}}});
  archive.sample(2, {{kCalls, {{"a", 2.0}}}});
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
    ArchiveOfTags& archive = make(name);
    archive.begin(0).sample(1, {{kCalls, {{"a", 1.0}}}});
    if (has_gap) archive.mark(2).say(3, kHasAll);
    archive.sample(3, {{kCalls, {{"a", 2.0}}}});
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
  ArchiveKind kind;
  kind.command = "./app";
  ArchiveOfTags& archive = make("run", kind);
  archive.sample(0, {{kCalls, {{"a", 2.0}}}, {kShape, {{"a", shape(-9, of_values({8, 8}))}}}});
  archive.sample(1, {{kCalls, {{"a", 3.0}}}, {kShape, {{"a", shape(-9, of_values({8, 8, 1}))}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_EQ(tag.percentile_source, PercentileSource::Histogram);
  EXPECT_NEAR(tag.percentiles[kP99].value(), 1, 0.02);
}

TEST_F(TotalsOf, HistogramsOfSeveralLivesOfTheAgentAddUp) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"a", 2.0}}}, {kShape, {{"a", shape(0, of_values({1, 1}))}}}});
  archive.sample(2, {{kCalls, {{"a", 1.0}}}, {kShape, {{"a", shape(1.5, of_values({9}))}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_EQ(tag.calls, 3);
  ASSERT_EQ(tag.percentile_source, PercentileSource::Histogram);
  EXPECT_EQ(tag.distribution->total(), 3U);
}

TEST_F(TotalsOf, ATextThatIsNoHistogramIsNone) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"a", 1.0}}}, {kShape, {{"a", std::string("1 17 what")}}}});
  const Tag tag = totals().tags.at(0);
  EXPECT_FALSE(tag.distribution);
  EXPECT_EQ(tag.percentiles[kP50], std::nullopt);
}

// The values of two hosts differ: percentiles of all are not means of the hosts' percentiles.
TEST_F(TotalsOf, HistogramsOfSeveralHostsMerge) {
  std::mt19937 random(4711);
  std::lognormal_distribution<double> durations(-3, 1);
  std::vector<double> all;
  for (const char* const host : {"saturn", "jupiter"}) {
    std::vector<double> values;
    const int count = host == std::string("saturn") ? 20'000 : 2'000;
    for (int i = 0; i < count; ++i)
      values.push_back(durations(random) * (host == std::string("saturn") ? 1 : 10));
    all.insert(all.end(), values.begin(), values.end());
    ArchiveOfTags& archive = make(host, {host});
    archive.begin(0);
    archive.sample(
        1, {{kCalls, {{"a", 1.0 * count}}}, {kShape, {{"a", shape(0, of_values(values))}}}});
  }
  std::sort(all.begin(), all.end());
  const Totals merged = totals({"saturn", "jupiter"});
  const Tag& tag = merged.tags.at(0);
  EXPECT_EQ(tag.calls, 22'000);
  EXPECT_EQ(tag.hosts.size(), 2U);
  ASSERT_EQ(tag.percentile_source, PercentileSource::Histogram);
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(kPercentiles[i] * static_cast<double>(all.size())));
    const double truth = all[rank - 1];
    EXPECT_NEAR(tag.percentiles[i].value(), truth, 0.02 * truth) << kPercentileNames[i];
  }
}

TEST_F(TotalsOf, OfSeveralHostsWithoutHistogramsCountsAddUpAndPercentilesAreUnknown) {
  for (const char* const host : {"saturn", "jupiter"}) {
    ArchiveOfTags& archive = make(host, {host});
    archive.begin(0);
    archive.sample(1, {{kPeriod, {{"", 1.0}}},
                       {kCalls, {{"a", 5.0}}},
                       {kRate, {{"a", 5.0}}},
                       {kMost, {{"a", host == std::string("saturn") ? 1.0 : 2.0}}},
                       {kP99Time, {{"a", 1.0}}}});
  }
  const Tag tag = totals({"saturn", "jupiter"}).tags.at(0);
  EXPECT_EQ(tag.calls, 10);
  EXPECT_EQ(tag.percentile_source, PercentileSource::SeveralHosts);
  ASSERT_TRUE(tag.max);
  EXPECT_EQ(tag.max->value, 2);
  EXPECT_TRUE(tag.max->is_exact);
}

TEST_F(TotalsOf, WhatTheStockAgentDoesNotSayStaysUnknown) {
  ArchiveOfTags& stock = make("stock", {"saturn", true, kStock});
  stock.sample(0, {{kCalls, {{"a", 0.0}}}}).sample(1, {{kCalls, {{"a", 4.0}}}});
  EXPECT_EQ(totals({"stock"}).tags.at(0).failed, std::nullopt);
  ArchiveOfTags& ours = make("ours", {"jupiter"});
  ours.begin(0).sample(1, {{kCalls, {{"a", 4.0}}}, {kFailed, {{"a", 1.0}}}});
  EXPECT_EQ(totals({"ours"}).tags.at(0).failed, 1);
  EXPECT_EQ(totals({"stock", "ours"}).tags.at(0).failed, std::nullopt);
}

TEST_F(TotalsOf, GapsAreNoTimeOfTheRun) {
  ArchiveOfTags& archive = make();
  archive.begin(0).sample(10, {{kCalls, {{"a", 10.0}}}}).mark(11);
  archive.sample(90, {{kCalls, {{"a", 50.0}}}}).sample(100, {{kCalls, {{"a", 60.0}}}});
  const Totals all = totals();
  EXPECT_EQ(all.run.elapsed_s(), 20);
  ASSERT_EQ(all.run.gaps.size(), 1U);
  EXPECT_EQ(all.run.gaps[0].begin, moment(10));
  EXPECT_EQ(all.run.gaps[0].end, moment(90));
  EXPECT_EQ(all.tags.at(0).rate, 1);
}

TEST_F(TotalsOf, AnArchiveWithoutSamplesOfThatTimeIsAnError) {
  ArchiveOfTags& archive = make();
  archive.begin(0).sample(1, {{kCalls, {{"a", 1.0}}}});
  const Result<Totals> read = read_totals(request({"run"}, {moment(50), moment(60)}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, path() + ": has no samples of calls in the requested time");
}

TEST_F(TotalsOf, CallsOfOneAgentAndTimeInTwoArchivesAreAnError) {
  const auto write = [this](const std::string& name, double agent, double first) {
    make(name)
        .sample(first, {{"trace.agent.started", {{"", agent}}}, {kCalls, {{"a", 1.0}}}})
        .sample(first + 2, {{kCalls, {{"a", 2.0}}}});
  };
  write("run", 5, 0);
  write("copy", 5, 1);
  write("later", 5, 3);
  write("other", 6, 0);
  EXPECT_EQ(error_of(read_totals(request({"run", "copy"}, {}))),
            path("copy") + ": has calls of the same agent and time as " + path("run") +
                "; name one of them");
  EXPECT_TRUE(read_totals(request({"run", "later", "other"}, {})));
}

// pmlogextract may have left out the first sample, but not the statement.
TEST_F(TotalsOf, AStatementIsOnlyOfTheSampleAtItsTime) {
  for (const double second : {0.0, 1.0}) {
    ArchiveOfTags& archive = make("run", {.command = "x", .is_part = true});
    archive.say(0, kBegins).sample(second, {{kCalls, {{"a", 1.0}}}});
    archive.sample(2, {{kCalls, {{"a", 3.0}}}}).end(std::string(kComplete));
    EXPECT_EQ(totals().run.incomplete.empty(), second == 0);
  }
}

TEST_F(TotalsOf, AfterAMarkInstancesMayHaveOtherNames) {
  ArchiveOfTags& archive = make("run", {"saturn", true, {kCalls}});
  archive.sample(1, {{kCalls, {{"a", 1.0}, {"b", 1.0}}}}).mark(2);
  archive.rename(TraceType::Transact, 3, 1, "c");  // a was number 1
  archive.sample(3, {{kCalls, {{"c", 10.0}, {"b", 1.0}}}});
  archive.sample(4, {{kCalls, {{"c", 30.0}, {"b", 2.0}}}});
  std::map<std::string, double> calls;
  for (const Tag& tag : totals().tags) calls[tag.name] = tag.calls;
  EXPECT_EQ(calls, (std::map<std::string, double>{{"a", 0}, {"b", 1}, {"c", 20}}));
}

// Or a tag would have no calls in a time in which none were read.
TEST_F(TotalsOf, OnlyReadingsOfCallsBeginAndEndTheTimeOfAPmlogger) {
  ArchiveOfTags& archive = make("run", {"saturn", true, {kCalls, kShape}});
  const auto shape_at = [&](double second) {
    archive.sample(second, {{kShape, {{"a", shape(0, of_values({1, 2, 3}))}}}});
  };
  shape_at(5);
  archive.sample(10, {{kCalls, {{"a", 10.0}}}});
  shape_at(15);
  archive.sample(20, {{kCalls, {{"a", 20.0}}}});
  shape_at(25);
  const Totals all = totals();
  EXPECT_EQ(all.run.begin, moment(10));
  EXPECT_EQ(all.run.end, moment(20));
  EXPECT_EQ(all.tags.at(0).rate, 1);
  EXPECT_TRUE(all.run.incomplete.empty());
  EXPECT_EQ(error_of(read_totals(request({"run"}, {moment(21), moment(30)}))),
            path() + ": has no samples of calls in the requested time");
}

TEST_F(TotalsOf, CallsAndFailuresOfDifferentTimesAreIncomplete) {
  ArchiveOfTags& archive = make("run", {"saturn", true, {kCalls, kFailed}});
  archive.begin(0).sample(1, {{kCalls, {{"a", 1.0}}}}).sample(2, {{kFailed, {{"a", 1.0}}}});
  ASSERT_EQ(totals().run.incomplete.size(), 1U);
  EXPECT_TRUE(totals().run.incomplete[0].why.starts_with(
      "its counts, failures and sums were logged at different times"));
}

TEST_F(TotalsOf, AnArchiveWithoutAnySampleIsAnError) {
  make().end("");
  const Result<Totals> read = read_totals(request({"run"}, {}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            path() + ": not a readable archive of PCP: " + pmErrStr(PM_ERR_NODATA));
}

TEST_F(TotalsOf, AnArchiveOfAnotherProgramIsAnError) {
  ArchiveOfTags& archive = make("run", {"saturn", true, {"trace.control.period"}});
  archive.sample(0, {{"trace.control.period", {{"", 60.0}}}});
  const Result<Totals> read = read_totals(request({"run"}, {}));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("has no counts of a trace agent"), std::string::npos)
      << read.error().message;
}

TEST_F(SeriesOf, PointsAreTheTimesBetweenSamples) {
  ArchiveOfTags& archive = make();
  archive.begin(0).sample(1, {{kCalls, {{"a", 10.0}}}, {kMost, {{"a", 0.5}}}});
  archive.sample(2, {{kPeriod, {{"", 1.0}}}});
  archive.sample(4, {{kCalls, {{"a", 30.0}}}, {kMost, {{"a", 0.25}}}});
  const Model all = model();
  EXPECT_EQ(all.fine.edges, (std::vector<WallTime>{moment(0), moment(1), moment(2), moment(4)}));
  ASSERT_EQ(all.series.size(), 1U);
  EXPECT_EQ(all.series[0].of(Quantity::Calls), (std::vector<float>{10, 0, 20}));
  ASSERT_EQ(all.series[0].of(Quantity::Max).size(), 3U);
  EXPECT_EQ(all.series[0].of(Quantity::Max)[0], 0.5F);
  EXPECT_TRUE(std::isnan(all.series[0].of(Quantity::Max)[1]));
  EXPECT_EQ(all.series[0].of(Quantity::Max)[2], 0.25F);
  EXPECT_TRUE(all.series[0].of(Quantity::Min).empty());
}

TEST_F(SeriesOf, NothingIsKnownOfGaps) {
  ArchiveOfTags& archive = make();
  archive.begin(0).sample(1, {{kCalls, {{"a", 10.0}}}}).mark(2);
  archive.sample(5, {{kCalls, {{"a", 30.0}}}}).sample(6, {{kCalls, {{"a", 31.0}}}});
  const Model all = model();
  const std::vector<float>& calls = all.series.at(0).of(Quantity::Calls);
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0], 10);
  EXPECT_TRUE(std::isnan(calls[1]));
  EXPECT_EQ(calls[2], 1);
}

TEST_F(SeriesOf, ALastValueStaysUntilThereIsAnother) {
  ArchiveOfTags& archive = make();
  const auto values = [](double count, double last) {
    return std::map<std::string, ArchiveOfTags::Values>{{"trace.observe.count", {{"o", count}}},
                                                        {"trace.observe.value", {{"o", last}}}};
  };
  archive.begin(0).sample(1, {{kPeriod, {{"", 1.0}}}}).sample(2, values(1, 7));
  archive.sample(3, {{kPeriod, {{"", 1.0}}}}).sample(4, values(2, 8));
  const std::vector<float> value = model().series.at(0).of(Quantity::Last);
  ASSERT_EQ(value.size(), 4U);
  EXPECT_TRUE(std::isnan(value[0]));
  EXPECT_EQ(std::vector<float>(value.begin() + 1, value.end()), (std::vector<float>{7, 7, 8}));
}

TEST_F(SeriesOf, DistributionsAreCutIntoSlices) {
  ArchiveOfTags& archive = make();
  archive.begin(0);
  archive.sample(1, {{kCalls, {{"a", 2.0}}}, {kShape, {{"a", shape(0.5, of_values({1, 1}))}}}});
  archive.sample(2, {{kCalls, {{"a", 3.0}}}, {kShape, {{"a", shape(0.5, of_values({1, 1, 4}))}}}});
  archive.sample(3, {{kCalls, {{"a", 1.0}}}, {kShape, {{"a", shape(2.5, of_values({9}))}}}});
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
  ArchiveOfTags& archive = make();
  archive.begin(0);
  for (const int second : {1, 2, 4, 5}) archive.sample(second, {{kPeriod, {{"", 1.0}}}});
  archive.sample(6, {{kCalls, {{"a", 1.0}}}, {kShape, {{"a", shape(5.5, of_values({1}))}}}});
  for (const int second : {7, 8}) archive.sample(second, {{kPeriod, {{"", 1.0}}}});
  archive.sample(9, {{kCalls, {{"a", 2.0}}}, {kShape, {{"a", shape(5.5, of_values({1, 4}))}}}});
  const std::vector<TimedHistogram> slices = model().series.at(0).histograms;
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].begin, moment(5));
  EXPECT_EQ(slices[1].begin, moment(8));
}

TEST_F(SeriesOf, TheFirstFiftyAreFineTheNextFiveHundredAreCoarse) {
  constexpr int kTags = 600;
  constexpr int kSamples = 4000;
  ArchiveOfTags& archive = make();
  archive.begin(0);
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
    ArchiveOfTags& archive = make(host, {host});
    archive.begin(shift);
    for (int second = 1; second <= 10; ++second)
      archive.sample(second + shift, {{kCalls, {{"a", 10.0 * second}}}, {kP99Time, {{"a", 1.0}}}});
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
