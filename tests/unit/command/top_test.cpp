// SPDX-License-Identifier: LGPL-2.1-or-later
// pcp trace top: what tags did between two samples, on one host and on several, and their tables.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command/pcp/archive_source.hpp"
#include "command/top/recent_tags.hpp"
#include "command/top/tag_text.hpp"
#include "unit/command/archive_of_tags.hpp"
#include "unit/command/made_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

const Shown kWide(Terminal{false, false, 120});

class RecentTagsOfArchives : public OfArchives {
 protected:
  // `has_distributions`: as of one of several hosts.
  std::vector<Recent> recent_tags(bool has_distributions = false) {
    finish_all();
    Result<ArchiveSource> source = ArchiveSource::open(path());
    RecentTags tags(std::make_unique<ArchiveSource>(*std::move(source)), true, has_distributions);
    std::vector<Recent> all;
    for (TagReading each; !each.is_over;)
      if ((each = tags.read()).recent) all.push_back(*std::move(each.recent));
    return all;
  }
};

TEST_F(RecentTagsOfArchives, CountWhatHappenedBetweenTwoSamples) {
  begun()
      .sample(2, {{kCalls, 4}, {kFailed, 1}, {kTime, 6}, {kFailedTime, 1}})
      .sample(4, {{kCalls, 10}, {kFailed, 2}, {kTime, 9}, {kFailedTime, 1.5}});
  const std::vector<Recent> recent = recent_tags();
  ASSERT_EQ(recent.size(), 2u);
  const Tag& tag = recent[1].tags.at(0);
  EXPECT_EQ(recent[1].elapsed_s, 2);
  EXPECT_EQ(tag.calls, 7);
  EXPECT_EQ(tag.failed, 1);
  EXPECT_EQ(tag.rate, 3.5);
  EXPECT_EQ(tag.sum, 3.5);
  EXPECT_EQ(tag.mean, 0.5);
  EXPECT_EQ(tag.busy, 1.75);
}

TEST_F(RecentTagsOfArchives, HaveNoCallsWhereNothingHappened) {
  begun()
      .sample(1, {{kCalls, 4}, {kTime, 1}})
      .sample(2, {{kPeriod, 60}})
      .sample(3, {{kCalls, {{"b", 2.0}}}});
  const std::vector<Recent> recent = recent_tags();
  EXPECT_EQ(tag_of(recent.at(1).tags, "a").calls, 0);
  EXPECT_EQ(tag_of(recent.at(1).tags, "a").mean, std::nullopt);
  EXPECT_EQ(tag_of(recent.at(2).tags, "b").calls, 2);
}

TEST_F(RecentTagsOfArchives, HaveExtremesAndPercentilesOfTheLastWindow) {
  begun()
      .sample(1, {{kPeriod, 60}, {kCalls, 4}, {kMost, 3}, {kFailedMost, 5}, {kP99Time, 2}})
      .sample(2, {{kPeriod, 60}, {kCalls, 4}, {kMost, 1}, {kP99Time, 1}})
      .sample(3, {{kCalls, 5}});
  const std::vector<Recent> recent = recent_tags();
  EXPECT_EQ(recent.at(0).window_s, 60);
  EXPECT_EQ(value_of(recent[0].tags.at(0).max), 5);
  EXPECT_EQ(recent[0].tags[0].percentiles[kP99], 2);
  EXPECT_EQ(value_of(recent.at(1).tags.at(0).max), 1);
  EXPECT_EQ(recent.at(2).tags.at(0).max, std::nullopt);
  EXPECT_EQ(recent[2].tags[0].percentiles[kP99], std::nullopt);
}

TEST_F(RecentTagsOfArchives, LackTimesThatSomeFailuresLack) {
  begun().sample(1, {{kCalls, 4}, {kTime, 1}, {kFailed, 1}});
  const Tag tag = recent_tags().at(0).tags.at(0);
  EXPECT_EQ(tag.calls, 5);
  EXPECT_EQ(tag.sum, std::nullopt);
  EXPECT_EQ(tag.busy, std::nullopt);
}

TEST_F(RecentTagsOfArchives, BeginAnewWithTheAgent) {
  make("run", kPmloggers)
      .sample(1, {{kStarted, kSecond0}, {kUptime, 1}, {kCalls, 100}})
      .sample(3, {{kStarted, kSecond0 + 2}, {kUptime, 1}, {kCalls, 8}})
      .sample(4, {{kStarted, kSecond0 + 2}, {kUptime, 2}, {kCalls, 9}});
  const std::vector<Recent> recent = recent_tags();
  ASSERT_EQ(recent.size(), 2u);
  EXPECT_EQ(recent[0].tags.at(0).calls, 8);
  EXPECT_EQ(recent[0].elapsed_s, 1);
  EXPECT_EQ(recent[1].tags.at(0).calls, 1);
}

TEST_F(RecentTagsOfArchives, AreThoseThatTheAgentStillHas) {
  make("run", kPmloggers)
      .sample(1, {{kCalls, {{"a", 1.0}, {"b", 1.0}}}})
      .sample(2, {{kCalls, {{"a", 1.0}, {"b", 1.0}}}})
      .sample(3, {{kCalls, {{"b", 1.0}}}});
  const std::vector<Recent> recent = recent_tags();
  EXPECT_EQ(recent.at(0).tags.size(), 2u);
  EXPECT_EQ(recent.at(1).tags.size(), 1u);
}

TEST_F(RecentTagsOfArchives, LeaveOutALastSampleThatTellsNothing) {
  begun().calls(1, 1).calls(2, 3).calls(2.001, 3);
  EXPECT_EQ(recent_tags().size(), 2u);
}

TEST_F(RecentTagsOfArchives, CountNothingTwiceAtAGap) {
  make("run", kPmloggers).calls(1, 1).calls(2, 3).mark(3).calls(4, 9).calls(5, 10);
  const std::vector<Recent> recent = recent_tags();
  ASSERT_EQ(recent.size(), 2u);
  EXPECT_EQ(recent[0].tags.at(0).calls, 2);
  EXPECT_EQ(recent[1].tags.at(0).calls, 1);
}

TEST_F(RecentTagsOfArchives, HaveDistributionsOfTheWindow) {
  make("run", kPmloggers)
      .sample(1, {{kPeriod, 2}, {kMost, 9}, {kCalls, 1}, {kShape, shape(-99, histogram_of({9}))}})
      .sample(2, {{kPeriod, 2}, {kMost, 9}, {kCalls, 1}, {kShape, shape(-99, histogram_of({9}))}})
      .sample(
          3, {{kPeriod, 2}, {kMost, 9}, {kCalls, 3}, {kShape, shape(-99, histogram_of({9, 1, 1}))}})
      .sample(6, {{kPeriod, 2},
                  {kMost, 9},
                  {kCalls, 4},
                  {kShape, shape(-99, histogram_of({9, 1, 1, 4}))}});
  const std::vector<Recent> recent = recent_tags(true);
  EXPECT_EQ(recent.at(0).tags.at(0).distribution, std::nullopt);
  EXPECT_EQ(recent.at(1).tags.at(0).distribution->total(), 2u);
  EXPECT_EQ(recent.at(2).tags.at(0).distribution->total(), 1u);
}

TEST_F(RecentTagsOfArchives, HaveAllOfADistributionThatBeganInTheWindow) {
  using Values = std::map<std::string, ArchiveOfTags::Values>;
  const auto values = [](double calls, const std::vector<double>& all) {
    return Values{
        {kPeriod, 60}, {kMost, 9}, {kCalls, calls}, {kShape, shape(0.5, histogram_of(all))}};
  };
  make("run", kPmloggers)
      .sample(1, values(1, {9}))
      .sample(2, values(3, {9, 1, 1}))
      .sample(61, values(3, {9, 1, 1}))
      .sample(62, values(4, {9, 1, 1, 4}));
  const std::vector<Recent> recent = recent_tags(true);
  EXPECT_EQ(recent.at(0).tags.at(0).distribution->total(), 3u);
  EXPECT_EQ(recent.at(1).tags.at(0).distribution->total(), 2u);
  EXPECT_EQ(recent.at(2).tags.at(0).distribution->total(), 1u);
}

TEST(SumOfHosts, AddsCountsAndMergesDistributions) {
  Tag fast = made_transaction("a", 3, 1);
  fast.hosts = {0};
  fast.rate = 3;
  fast.in_flight = 1;
  fast.max = Extreme{1, true};
  fast.percentiles.fill(1);
  fast.percentile_source = PercentileSource::Histogram;
  fast.distribution = histogram_of({1, 1, 1});
  Tag slow = fast;
  slow.calls = 0;  // in this time; but not in the window
  slow.sum = slow.rate = 0;
  slow.max = Extreme{16, true};
  slow.distribution = histogram_of({16});
  const Recent sum =
      sum_of_hosts({{{"saturn"}, {fast}, {}, 1, 60}, {{"jupiter"}, {slow}, {}, 2, 60}});
  ASSERT_EQ(sum.tags.size(), 1u);
  const Tag& tag = sum.tags.front();
  EXPECT_EQ(sum.hosts, (std::vector<std::string>{"saturn", "jupiter"}));
  EXPECT_EQ(sum.elapsed_s, 2);
  EXPECT_EQ(tag.hosts, (std::vector<std::uint16_t>{0, 1}));
  EXPECT_EQ(tag.calls, 3);
  EXPECT_EQ(tag.rate, 3);
  EXPECT_EQ(tag.mean, 1);
  EXPECT_EQ(tag.in_flight, 2);
  EXPECT_EQ(value_of(tag.max), 16);
  EXPECT_NEAR(*tag.percentiles[kP50], 1, 0.02);
  EXPECT_NEAR(*tag.percentiles[kP99], 16, 0.3);
}

TEST(SumOfHosts, HasNoPercentilesWithoutDistributions) {
  Tag tag = made_transaction("a", 3, 1);
  tag.max = Extreme{1, true};
  tag.percentiles.fill(1);
  tag.percentile_source = PercentileSource::OneWindow;
  const Tag of_one = named(tag, "b");
  const Recent sum =
      sum_of_hosts({{{"saturn"}, {tag, of_one}, {}, 1, 60}, {{"jupiter"}, {tag}, {}, 1, 60}});
  EXPECT_EQ(tag_of(sum.tags, "a").percentiles[kP99], std::nullopt);
  EXPECT_EQ(tag_of(sum.tags, "a").percentile_source, PercentileSource::SeveralHosts);
  EXPECT_EQ(tag_of(sum.tags, "b").percentiles[kP99], 1);
}

class TagLists : public testing::Test {
 protected:
  TagLists() {
    recent.hosts = {"saturn"};
    recent.at = moment(1);
    recent.elapsed_s = 2;
    recent.window_s = 60;
    recent.tags = {made_transaction("fast", 9, 1), made_transaction("slow", 2, 40),
                   made_transaction("never", 0), made_tag(TraceType::Point, "hit", 3)};
    recent.tags[0].percentiles[kP99] = 1;
    recent.tags[1].percentiles[kP99] = 50;
    for (Tag& tag : recent.tags) tag.rate = tag.calls / 2;
  }
  std::vector<std::string> sorted(const TagChoice& choice, std::size_t table = 0) const {
    const TablesOf<Tag> tables = chosen_tags(recent.tags, choice);
    std::vector<std::string> names;
    for (const Tag* const tag : tables[table]) names.push_back(tag->name);
    return names;
  }
  Recent recent;
};

TEST_F(TagLists, BeginWithTheGreatestAndEndWithTheUnknown) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(sorted({}), (Names{"slow", "fast", "never"}));
  EXPECT_EQ(sorted({.sort = Figure::Rate}), (Names{"fast", "slow", "never"}));
  EXPECT_EQ(sorted({.sort = Figure::P99}), (Names{"slow", "fast", "never"}));
  EXPECT_EQ(sorted({}, 2), Names{"hit"});
}

TEST_F(TagLists, HaveTheTagsThatMatch) {
  using Names = std::vector<std::string>;
  TagChoice choice;
  const auto with = [&](const char* text) {
    EXPECT_TRUE(choice.set_pattern(text));
    return sorted(choice);
  };
  EXPECT_EQ(with("s"), (Names{"slow", "fast"}));  // a part
  EXPECT_EQ(with("s*"), Names{"slow"});
  EXPECT_EQ(with("?a*"), Names{"fast"});
  EXPECT_EQ(with("").size(), 3u);
  EXPECT_FALSE(choice.set_pattern("[a"));
}

TEST_F(TagLists, SayThatNoTagMatches) {
  TagChoice choice;
  const auto none = [&](const char* text) {
    EXPECT_TRUE(choice.set_pattern(text));
    return no_match(recent.tags, choice);
  };
  EXPECT_EQ(none("s*"), "");
  EXPECT_TRUE(has(none("failed"), "no tag matches \"failed\": "));
  EXPECT_TRUE(none("failed").ends_with("pcp-trace spans failed"));
  EXPECT_FALSE(has(none("fast*er"), "spans"));
  recent.tags.clear();
  EXPECT_EQ(none("failed"), "");
}

TEST_F(TagLists, HaveCallsInsteadOfRatesIfTheseSortOrSomeFailed) {
  const auto heading = [&](Figure sort) {
    return TagTable(kWide, recent.tags, sort, true).heading(0);
  };
  EXPECT_FALSE(has(heading(Figure::Total), "failed"));
  EXPECT_FALSE(has(heading(Figure::Total), "calls"));
  EXPECT_TRUE(has(heading(Figure::Calls), "calls"));
  recent.tags[0].failed = 1;
  EXPECT_TRUE(has(heading(Figure::Total), "   calls failed   total"));
}

TEST_F(TagLists, KeepTheColumnThatSortsInNarrowTerminals) {
  const auto heading = [&](Figure sort, std::size_t columns) {
    return TagTable(Shown(Terminal{false, false, columns}), recent.tags, sort, true).heading(0);
  };
  EXPECT_EQ(heading(Figure::P50, 40), "Transactions                  /s     p50");
  EXPECT_EQ(heading(Figure::Total, 20), "Transactions   total");
}

TEST_F(TagLists, AreTextWithTheTimesThatTheNumbersCover) {
  recent.tags.resize(2);
  recent.tags[0].in_flight = 1;
  recent.tags[1].failed = 1;
  EXPECT_EQ(lines_of(recent_text(recent, {.most = 1}, Shown(Terminal{false, false, 90}))),
            (std::vector<std::string>{
                Shown::time(moment(1)) + "  saturn  last 2.00 s; percentiles and max: last 60.0 s",
                "Transactions                    calls failed   total     p95     p99      max   "
                "busy  open",
                "slow                                2      1  80.0 s       -  50.0 s        -   "
                "         -",
                ""}));
}

TEST_F(TagLists, AreALineOfJson) {
  const std::string json = recent_json(recent, {.most = 1});
  EXPECT_TRUE(
      begins(json,
             "{\"at\":\"2025-01-01T16:53:21.000000000Z\",\"hosts\":[\"saturn\"],\"elapsed_s\":2,"
             "\"window_s\":60,\"tags\":[{\"name\":\"slow\",\"type\":\"transact\","));
  EXPECT_TRUE(has(json, "\"rate\":1,"));
  EXPECT_EQ(json.find("fast"), std::string::npos);
  EXPECT_EQ(lines_of(json).size(), 1u);
}

TEST(DetailLines, ShowWhatIsOpenAndTheDistribution) {
  Tag tag = made_transaction("a\x1b[31m", 3, 1);
  const TagDetail detail{.host = "saturn",
                         .labels = "{\"service\":\"web\"}",
                         .open = {{"saturn", tag.name, 1, 90, "12/13"}},
                         .histogram = shape({1, 1, 4})};
  std::string text;
  for (const std::string& line :
       detail_lines({TraceType::Transact, tag.name}, &tag, {detail}, kWide))
    text += line + "\n";
  EXPECT_TRUE(has(text, "a\\x1b[31m\n  calls 3  completed 3  failed 0  "));
  EXPECT_TRUE(has(text, "  labels {\"service\":\"web\"}\nOpen transactions "));
  EXPECT_TRUE(has(text, "  1    90.0 s  12/13\n"));
  EXPECT_TRUE(has(text, "    1.00 s to 1.03 s          2 ###"));
  EXPECT_TRUE(has(text, "    4.00 s to 4.12 s          1 ###"));
}

}  // namespace
}  // namespace pcp::trace::command
