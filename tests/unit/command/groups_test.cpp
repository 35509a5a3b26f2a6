// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags that are added up, by labels.
#include "command/run/groups.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "command/run/label_choice.hpp"
#include "unit/command/archive_of_tags.hpp"
#include "unit/command/made_tags.hpp"

namespace pcp::trace::command {
namespace {

// A transaction whose calls all have these durations.
Tag tag_with(const std::string& name, const std::vector<double>& values) {
  Tag tag = made_transaction(name, static_cast<double>(values.size()));
  tag.unit = "s";
  tag.failed = 1;
  tag.sum = std::accumulate(values.begin(), values.end(), 0.0);
  tag.rate = tag.calls / 10;
  tag.busy = *tag.sum / 10;
  tag.percentile_source = PercentileSource::NoCalls;
  if (values.empty()) return tag;
  tag.min = Extreme{*std::ranges::min_element(values), true};
  tag.max = Extreme{*std::ranges::max_element(values), true};
  tag.distribution = histogram_of(values);
  tag.percentile_source = PercentileSource::Histogram;
  take_percentiles(tag);
  return tag;
}

Tag without_distribution(Tag tag) {
  tag.distribution.reset();
  tag.percentiles = {};
  tag.percentile_source = PercentileSource::SeveralWindows;
  return tag;
}

// The only group of these tags.
Tag sum_of(const std::vector<Tag>& tags) {
  Groups groups = group_by_name(tags);
  EXPECT_EQ(groups.tags.size(), 1U);
  return groups.tags.at(0);
}

TEST(Groups, AddUpExactlyAndMergeDistributions) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> durations(-6, 1.5);
  std::vector<double> all;
  std::vector<Tag> tags;
  for (int rank = 0; rank < 8; ++rank) {
    std::vector<double> its;
    for (int i = 0; i < 1000 * (rank + 1); ++i) its.push_back(durations(random) * (rank + 1));
    all.insert(all.end(), its.begin(), its.end());
    tags.push_back(tag_with("compute{rank=" + std::to_string(rank) + "}", its));
  }
  const Tag sum = sum_of(tags);
  EXPECT_EQ(std::tie(sum.name, sum.calls, sum.failed), std::tuple("compute", 36'000, 8));
  EXPECT_DOUBLE_EQ(*sum.rate, 3600);
  std::ranges::sort(all);
  const double time = std::accumulate(all.begin(), all.end(), 0.0);
  EXPECT_NEAR(*sum.sum, time, time * 1e-12);
  EXPECT_NEAR(*sum.mean, time / 36'000, time * 1e-12);
  EXPECT_NEAR(*sum.busy, time / 10, time * 1e-12);
  EXPECT_EQ(sum.min, (Extreme{all.front(), true}));
  EXPECT_EQ(sum.max, (Extreme{all.back(), true}));
  EXPECT_EQ(sum.percentile_source, PercentileSource::Histogram);
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const double truth = all[static_cast<std::size_t>(kPercentiles[i] * 36'000) - 1];
    EXPECT_NEAR(*sum.percentiles[i], truth, truth * 0.02) << kPercentileNames[i];
  }
}

TEST(Groups, KnowNothingThatOneMemberDoesNotKnow) {
  Tag other = without_distribution(tag_with("a{x=2}", {3, 4}));
  other.failed.reset();
  other.max.reset();
  const Tag sum = sum_of({tag_with("a{x=1}", {1, 2}), other});
  EXPECT_EQ(std::tie(sum.calls, sum.failed, sum.sum), std::tuple(4, std::nullopt, 10));
  EXPECT_EQ(sum.percentile_source, PercentileSource::SeveralTags);
  EXPECT_EQ(sum.percentiles[kP50], std::nullopt);
  EXPECT_FALSE(sum.distribution);
  ASSERT_TRUE(sum.max);
  EXPECT_FALSE(sum.max->is_exact);
  EXPECT_TRUE(sum.min->is_exact);
}

TEST(Groups, TakeNoNoticeOfMembersWithoutCalls) {
  for (const bool is_first : {false, true}) {
    std::vector<Tag> tags{tag_with("a{x=1}", {1, 2}), tag_with("a{x=2}", {})};
    if (is_first) std::ranges::reverse(tags);
    const Tag sum = sum_of(tags);
    EXPECT_EQ(sum.percentile_source, PercentileSource::Histogram);
    EXPECT_EQ(sum.percentiles, tag_with("a{x=1}", {1, 2}).percentiles);
    EXPECT_EQ(sum.min, (Extreme{1, true}));
    EXPECT_EQ(sum.max, (Extreme{2, true}));
    EXPECT_EQ(sum.failed, 2);
  }
}

TEST(Groups, TakeTheOnlyValueOfATagForItsDistribution) {
  Tag one = without_distribution(tag_with("a{x=1}", {8, 8, 8}));
  one.percentile_source = PercentileSource::OneValue;
  const Tag sum = sum_of({one, tag_with("a{x=2}", {1})});
  EXPECT_EQ(sum.percentile_source, PercentileSource::Histogram);
  EXPECT_EQ(sum.distribution->total(), 4U);
  EXPECT_NEAR(*sum.percentiles[kP50], 8, 0.16);
}

TEST(Groups, AreAsGoodAsTheWorstMember) {
  Tag nearly = tag_with("a{x=1}", {1, 2});
  nearly.percentile_source = PercentileSource::WholeIntervals;
  EXPECT_EQ(sum_of({nearly, tag_with("a{x=2}", {1})}).percentile_source,
            PercentileSource::WholeIntervals);
  Tag none = without_distribution(tag_with("a{x=1}", {1, 2}));
  none.percentile_source = PercentileSource::NotRecorded;
  EXPECT_EQ(sum_of({none, none}).percentile_source, PercentileSource::NotRecorded);
}

TEST(Groups, AddUpCompletedAndFailedCallsOfTheirMembers) {
  const auto part = [](const std::vector<double>& values, bool has_failed) {
    Tag tag = tag_with("a{x=1}", values);
    tag.failed = has_failed ? tag.calls : 0;
    return tag;
  };
  Tag folded = with_failed(part({1, 1}, false), part({8}, true));
  folded.is_folded = true;
  const std::vector<Tag> tags{part({1}, false), folded,
                              with_failed(part({}, false), part({4}, true))};
  const Tag sum = sum_of(tags);
  EXPECT_TRUE(sum.is_folded);
  EXPECT_EQ(std::tie(sum.calls, sum.failed, sum.sum, sum.mean), std::tuple(5, 2, 15, 3));
  EXPECT_EQ(sum.min, (Extreme{1, true}));
  EXPECT_EQ(sum.max, (Extreme{8, true}));
  EXPECT_EQ(sum.distribution->total(), 5U);
  EXPECT_EQ(sum.endings->completed.sum, 3);
  EXPECT_EQ(sum.endings->failed.mean, 6);
  std::vector<Tag> of_failed;
  for (const Tag& tag : tags) of_failed.push_back(with_times_of(tag, Ending::Failed));
  const Tag chosen = sum_of(of_failed);
  EXPECT_EQ(std::tie(chosen.calls, chosen.failed, chosen.sum, chosen.mean),
            std::tuple(5, 2, 12, 6));
  EXPECT_EQ(chosen.distribution->total(), 2U);
}

TEST(Groups, KnowNothingOfFailedCallsThatWereNotRecorded) {
  Tag tag = tag_with("a", {1, 2});
  for (const bool is_known : {true, false}) {
    tag.failed = is_known ? std::optional(0.) : std::nullopt;
    const Tag failed = with_times_of(tag, Ending::Failed);
    EXPECT_EQ(failed.sum, tag.failed);
    EXPECT_EQ(failed.percentile_source,
              is_known ? PercentileSource::NoCalls : PercentileSource::NotRecorded);
  }
}

// Percentiles of a distribution and of a window.
TEST(Groups, KnowNoPercentilesIfThoseOfFailedCallsCannotBeCombined) {
  const Tag whole = with_failed(tag_with("a", {1, 1}), without_distribution(tag_with("a", {8})));
  EXPECT_EQ(whole.percentile_source, PercentileSource::CompletedAndFailed);
  EXPECT_EQ(whole.percentiles[kP50], std::nullopt);
  EXPECT_EQ(whole.max, (Extreme{8, true}));
}

TEST(Groups, KeepTypesApartAndUnitsThatAreTheSame) {
  Tag point = tag_with("a{x=1}", {});
  point.type = TraceType::Point;
  Tag in_bytes = tag_with("b{x=1}", {1});
  in_bytes.unit = "byte";
  const Groups groups =
      group_by_name({tag_with("a{x=1}", {1}), point, in_bytes, tag_with("b{x=2}", {2})});
  ASSERT_EQ(groups.tags.size(), 3U);
  EXPECT_EQ(groups.tags[0].name, "b");
  EXPECT_EQ(groups.tags[0].unit, "");
  EXPECT_EQ(groups.members, (Members{{2, 3}, {0}, {1}}));
}

LabelChoice choice_of(const std::string& by, const std::string& where = "",
                      const std::string& names = "*") {
  LabelChoice choice;
  if (!by.empty()) choice.by = *parse_by(by);
  if (!where.empty()) choice.where = *parse_where(where);
  choice.names = *Glob::parse(names);
  return choice;
}

TEST(LabelChoice, NamesTheGroupByTheLabelsThatItHas) {
  const std::string tag = "request{route=/cart;status=200;zone=eu}";
  EXPECT_EQ(choice_of("name").group_of(tag), "request");
  EXPECT_EQ(choice_of("status").group_of(tag), "request{status=200}");
  EXPECT_EQ(choice_of("zone,route").group_of(tag), "request{route=/cart;zone=eu}");
  EXPECT_EQ(choice_of("rank").group_of(tag), "request");
  EXPECT_EQ(choice_of("").group_of(tag), tag);
  EXPECT_EQ(choice_of("route").group_of("no labels {at all"), "no labels {at all");
  EXPECT_EQ(choice_of("x").group_of("a{x=%3B}"), "a{x=%3B}");
}

TEST(LabelChoice, LeavesOutTagsWithoutTheLabels) {
  const std::string tag = "request{route=/cart;status=503}";
  EXPECT_TRUE(choice_of("", "status=5*").group_of(tag));
  EXPECT_TRUE(choice_of("", "status=5*,route=/cart").group_of(tag));
  EXPECT_FALSE(choice_of("", "status=5*,route=/pay").group_of(tag));
  EXPECT_FALSE(choice_of("", "zone=*").group_of(tag));
  EXPECT_TRUE(choice_of("", "", "req*").group_of(tag));
  EXPECT_TRUE(choice_of("", "", "*status=503}").group_of(tag));
  EXPECT_FALSE(choice_of("", "", "resp*").group_of(tag));
  EXPECT_EQ(choice_of("route,name", "status=5*").keys(),
            (std::vector<std::string>{"route", "status"}));
}

TEST(LabelChoice, TakesACommaBehindABackslashForAPartOfTheValue) {
  ASSERT_TRUE(parse_where("route=a\\,b,x=\\*"));
  EXPECT_TRUE(choice_of("", "route=a\\,b").group_of("request{route=a%2Cb}"));
  EXPECT_FALSE(choice_of("", "x=\\*").group_of("request{x=1}"));
  EXPECT_TRUE(choice_of("", "x=\\*").group_of("request{x=%2A}"));
}

TEST(LabelChoice, RefusesWhatIsNoLabel) {
  for (const char* const text : {"", "Route", "a b", "route,", "hostname"})
    EXPECT_FALSE(parse_by(text)) << text;
  for (const char* const text : {"", "route", "route=[", "Route=1", "=1"})
    EXPECT_FALSE(parse_where(text)) << text;
}

class ChosenTags : public OfArchives {
 protected:
  Model read(const std::vector<std::string>& names, LabelChoice choice) {
    ReadRequest asked = request(names);
    asked.choice = std::move(choice);
    return read_or_fail(read_model(asked));
  }
};

TEST_F(ChosenTags, HaveTheCourseOfAllTheirMembers) {
  begun()
      .sample(1, {{kCalls, {{"a{x=1}", 1.0}, {"a{x=2}", 10.0}, {"b", 5.0}}},
                  {kTime, {{"a{x=1}", 1.0}, {"a{x=2}", 2.0}, {"b", 0.5}}},
                  {kMost, {{"a{x=1}", 7.0}, {"a{x=2}", 3.0}}}})
      .sample(2, {{kCalls, {{"a{x=1}", 3.0}, {"a{x=2}", 10.0}}}, {kMost, {{"a{x=1}", 2.0}}}});
  const Model all = read({"run"}, choice_of("name"));
  ASSERT_EQ(all.tags.size(), 2U);
  EXPECT_EQ(all.tags[0].name, "a");
  EXPECT_EQ(all.tags[0].calls, 13);
  ASSERT_EQ(all.series.size(), 2U);
  EXPECT_EQ(all.series[0].of(Quantity::Calls), (std::vector<float>{11, 2}));
  EXPECT_EQ(all.series[0].of(Quantity::Max), (std::vector<float>{7, 2}));
  ASSERT_EQ(all.imbalances.size(), 1U);  // of the label sets, which are no longer among the tags
  EXPECT_EQ(all.imbalances[0].name, "a");
}

TEST_F(ChosenTags, HaveTheHostForALabel) {
  begun("one", {"saturn"}).calls(1, 1);
  begun("other", {"jupiter"}).calls(1, 2);
  std::map<std::string, double> calls;
  for (const Tag& tag : read({"one", "other"}, choice_of("host")).tags) calls[tag.name] = tag.calls;
  EXPECT_EQ(calls, (std::map<std::string, double>{{"a{host=saturn}", 1}, {"a{host=jupiter}", 2}}));
  EXPECT_EQ(read({"one", "other"}, choice_of("", "host=sat*")).tags.size(), 1U);
}

}  // namespace
}  // namespace pcp::trace::command
