// SPDX-License-Identifier: LGPL-2.1-or-later
// Conditions about changes since an older run, and about shares of label sets.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "command/run/folded_calls.hpp"
#include "command/run/groups.hpp"
#include "command/run/imbalance.hpp"
#include "unit/command/conditions.hpp"
#include "unit/command/made_tags.hpp"

namespace pcp::trace::command {
namespace {

Tag transaction(const std::string& name, double completed, double failed = 0) {
  Tag tag = made_transaction(name, completed + failed, 0.1);
  tag.failed = failed;
  tag.rate = tag.calls / 10;
  tag.max = Extreme{0.5, true};
  tag.percentiles[kP99] = 0.2;
  tag.percentile_source = PercentileSource::OneWindow;
  return tag;
}

Comparison compared(const Totals& before, const Totals& now, const Divisors& divisors = {}) {
  return compare(Side{before, {}, {}}, Side{now, {}, {}}, divisors);
}

// Two runs of a tag, and the verdict about it.
class Changes : public testing::Test {
 protected:
  void expect(const Findings& findings, bool is_complete = true) {
    Comparison comparison = compared(before_, now_, divisors_);
    comparison.is_over_runs = is_over_runs_;
    for (ComparedTag& tag : comparison.tags)
      for (Difference& change : tag.changes) {
        change.verdict = verdict_;
        change.chance = chance_;
      }
    command::expect({now_, is_complete, &comparison}, findings);
  }

  Totals before_{{}, {transaction("request", 100)}};
  Totals now_{{}, {transaction("request", 100)}};
  Tag& request_ = now_.tags[0];
  Verdict verdict_ = Verdict::Real;
  std::optional<double> chance_;
  Divisors divisors_;
  bool is_over_runs_ = false;
};

TEST_F(Changes, AreTrueFromTheBorderOn) {
  request_.mean = 0.125;
  expect({{"true", {"request mean >= +25%", "request mean > +24.9%"}},
          {"passed", {"request mean > +25%", "request mean < -1%"}}});
  request_.mean = 0.05;
  expect({{"true", {"request mean <= -50%"}},
          {"passed", {"request mean < -50%", "request mean > +1%"}},
          {"true: request has -50%, from 100 ms to 50.0 ms", {"req* mean < -10%"}}});
  before_.tags[0].calls = 1000;
  request_.calls = 1001;
  expect({{"true", {"request calls >= +0.1%"}}});
  request_.calls = 1004;
  expect({{"passed", {"request calls > +0.4%"}}});
}

TEST_F(Changes, OfATagThatOnlyTheOlderRunHasAreUnknown) {
  before_.tags.push_back(transaction("gone", 100));
  const Comparison comparison = compared(before_, now_);
  const auto found = findings("* calls < -10%", {now_, true, &comparison});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1], "unknown: gone has no calls in the newer run");
}

TEST_F(Changes, OfOneRunEachAreNeverNoise) {
  for (const Verdict verdict : {Verdict::Noise, Verdict::NotJudged}) {
    verdict_ = verdict;
    for (const double mean : {0.05, 0.1, 0.119}) {
      request_.mean = mean;
      expect({{"passed", {"request mean > +20%"}}});
    }
    request_.mean = 0.5;
    expect(
        {{"unknown: request has +400%, from 100 ms to 500 ms; three runs or more on each side "
          "decide it: --compare old-?.trace -- new-?.trace, with options before --compare",
          {"request mean > +20%"}}});
  }
}

TEST_F(Changes, OfSeveralRunsMayBeNoise) {
  const std::string change = "request has +400%, from 100 ms to 500 ms";
  is_over_runs_ = true;
  request_.mean = 0.5;
  verdict_ = Verdict::Noise;  // together with figures that have not changed
  for (const double chance : {0.04, 0.1}) {
    chance_ = chance;
    expect({{"true", {"request mean > +20%"}}});
  }
  for (const double chance : {0.11, 0.5}) {
    chance_ = chance;
    expect({{"unknown: " + change + ", which may be noise: more runs on each side decide it",
             {"request mean > +20%"}},
            {"passed", {"request mean > +400%"}}});
  }
  chance_ = 0.51;
  expect({{"passed: " + change + ", within noise", {"request mean > +20%"}},
          {"passed", {"request mean >= +0%"}}});
  request_.max->is_exact = false;
  expect({{"unknown", {"request max > +20%"}}});
  request_.max->value = 1;
  expect({{"unknown: request has +100%, from 500 ms to 1.00 s, which cannot be judged",
           {"request max > +20%"}}});
  request_.nonfinite = 1;
  expect({{"unknown", {"request mean > +20%"}}});
  request_.nonfinite = 0;
  chance_.reset();
  expect({{"unknown: " + change +
               ", which is not judged: only the 50 tags with the most total time are, if all runs "
               "have them; --filter chooses tags",
           {"request mean > +20%"}}});
}

TEST_F(Changes, OfValuesThatAreNotFiniteAreUnknown) {
  for (Totals* const run : {&before_, &now_}) {
    run->tags[0].type = TraceType::Observe;
    run->tags[0].nonfinite = 0;
  }
  expect({{"passed", {"request mean > +20%"}}});
  request_.nonfinite = 3;
  expect(
      {{"unknown: request has 0%, from 0.1 to 0.1, not counting values of the newer run that are "
        "not finite",
        {"request mean > +20%"}}});
}

TEST_F(Changes, OfPercentilesAreKnownUpToTheirErrors) {
  before_.tags[0].percentiles[kP95] = 0.1;
  request_.percentiles[kP95] = 0.12;
  expect({{"true", {"request p95 > +15%"}},  // at least 117.6 / 102
          {"unknown: request has +20%, from 100 ms to 120 ms, too near the limit to tell: a "
           "percentile may be 2% off",
           {"request p95 > +20%"}},
          {"passed", {"request p95 > +25%"}}});  // at most 122.4 / 98
}

// One step has ten times the calls and nearly all the time.
TEST_F(Changes, OfCountsAreDecidedWhateverTheNoiseIs) {
  before_.tags.push_back(transaction("query", 200));
  now_.tags.push_back(transaction("query", 1996, 4));
  for (const bool is_over_runs : {false, true})
    for (const Verdict verdict : {Verdict::Noise, Verdict::NotJudged}) {
      is_over_runs_ = is_over_runs;
      verdict_ = verdict;
      chance_ = verdict == Verdict::Noise ? std::optional(1.0) : std::nullopt;
      const bool is_noise = is_over_runs && verdict == Verdict::Noise;
      expect({{"true: query has +900%, from 200 to 2,000", {"query calls > +20%"}},
              {"passed", {"query calls > +900%"}},
              {"true", {"query failed > +20%"}},
              {is_noise ? "passed" : "unknown", {"query total > +20%"}}});
    }
}

TEST_F(Changes, OfSumsAreDivided) {
  request_ = transaction("request", 200);
  before_.tags.push_back(transaction("query", 200));
  now_.tags.push_back(transaction("query", 600));
  divisors_ = *calls_of("request", before_, now_);
  expect({{"true: query has +50%, from 2 to 3 per call of request", {"query calls > +49%"}},
          {"passed", {"query calls > +50%", "query total > +50.1%"}},
          {"passed: query has 0%, from 100 ms to 100 ms", {"query mean > +1%"}}});
  divisors_ = {14, 21, {}};
  now_.tags[1].calls = 1.29 * 300;
  expect({{"passed", {"query calls > +29%"}}, {"true", {"query calls >= +29%"}}});
  divisors_ = {1, 3, {}};
  now_.tags[1].calls = 600;
  expect({{"passed: query has 0%, from 200 to 200 per run", {"query calls < -1%"}}});
}

TEST_F(Changes, OfFailuresThatAreNewAreInfinite) {
  request_.failed = 1;
  expect({{"true", {"request failed > +1000%"}},
          {"true: request has a change, from 0% to 1%", {"request failed% > +10%"}}});
  request_.failed = 0;
  expect({{"passed", {"request failed > +1000%"}}});
}

TEST_F(Changes, AreUnknownWithoutTwoWholeRuns) {
  const std::string condition = "request mean > +20%";
  expect({{"unknown: request has calls that may be missing", {condition}}}, false);
  now_.tags.push_back(transaction("new", 1));
  Tag& request = now_.tags[0];
  expect({{"unknown: new has no calls in the older run", {"new mean > +20%"}},
          {"unknown: no tag matches", {"old mean > +20%"}}});
  now_.run.incomplete = {{"a", "b"}};
  expect({{"unknown: request has calls that may be missing in the newer run", {condition}}}, false);
  request.mean.reset();
  request.lacks_times = true;
  expect(
      {{"unknown: request has a change that is not known, as the newer run has failed calls "
        "without a duration; --completed leaves them out",
        {condition}}});
  before_.run.without_room = 1;
  expect({{"unknown: in the older run " + no_room(before_.run), {condition}}});
  command::expect({now_, true, nullptr}, {{"unknown: there is no older run", {condition}}});
}

class Shares : public testing::Test {
 protected:
  void expect(const Findings& findings, bool is_complete = true) {
    command::expect({run_, is_complete, nullptr}, findings);
  }

  Totals run_{{},
              {transaction("request{route=/cart;status=200}", 900, 70),
               transaction("request{route=/cart;status=500}", 3, 5),
               transaction("request{route=/pay;status=503}", 2),
               transaction("request{route=/pay}", 20), transaction("other{status=500}", 7)}};
};

// Ten of a thousand calls.
TEST_F(Shares, AreTrueFromTheBorderOn) {
  expect({{"passed", {"request{status=5*} share > 1%"}},
          {"true",
           {"request{status=5*} share >= 1%", "request{status=5*} share > 0.999%",
            "\"request\"{status=5*} share >= 1%", "req*{status=5*} share >= 1%"}},
          {"true: request has 1%, 10 of 1,000 calls", {"request{status=5*} share > 0.5%"}}});
}

TEST_F(Shares, MayBeOfSeveralLabels) {
  expect({{"true: request has 0.2%, 2 of 1,000 calls",
           {"request{route=/pay,status=5*} share >= 0.2%"}},
          {"passed", {"request{route=/pay;status=5*} share > 0.2%"}}});
}

TEST_F(Shares, OfEachNameHaveAFinding) {
  EXPECT_EQ(findings("*{status=5*} share > 50%", {run_, true, nullptr}),
            (std::vector<std::string>{"true: other has 100%, 7 of 7 calls",
                                      "passed: request has 1%, 10 of 1,000 calls"}));
}

TEST_F(Shares, OfLabelsThatDoNotOccurAreZeroButOfUnknownKeysUnknown) {
  expect({{"passed", {"request{status=4*} share > 0%"}},
          {"unknown: no label set has statsu", {"request{statsu=5*} share > 1%"}},
          {"unknown: no tag matches", {"reqest{status=5*} share > 1%"}}});
}

// They may be a total over all label sets, or further calls.
TEST_F(Shares, BesideCallsWithoutLabelsAreKnownAsFarAsTheyAre) {
  run_.tags.push_back(transaction("request", 1000));
  expect(
      {{"unknown: request has 0.5% to 1%, 10 of 2,000 calls", {"request{status=5*} share > 0.7%"}},
       {"passed", {"request{status=5*} share > 1%"}},
       {"true", {"request{status=5*} share >= 0.5%"}}});
  run_.tags.back().is_folded = true;
  run_.run.folded = {run_.tags.back()};
  expect({{"unknown: request has 0.5% to 50.5%, 10 of 2,000 calls",
           {"request{status=5*} share > 1%"}}});
}

TEST_F(Shares, AreUnknownIfCallsAre) {
  expect({{"unknown: request has calls that may be missing", {"request{status=5*} share > 99%"}}},
         false);
  run_.tags[0].failed.reset();
  expect({{"unknown", {"request{status=5*} share > 99%"}}});
}

// A run in which calls without labels may be of label sets that had no room, and the outcome of a
// condition for all tags.
class Folded : public testing::Test {
 protected:
  Folded() { fold(run_); }
  // As archive_reader.cpp does.
  static void fold(Totals& run, const LabelChoice& choice = {}) {
    TagNames names;
    for (const Tag& tag : run.tags) names.find_or_add(tag.type, tag.name);
    run.run.may_have_folded = true;
    take_folded(run, names, choice);
    run.imbalances = imbalances_of(run.tags);
    run.tags =
        group_tags(run.tags, [&](const std::string& tag) { return choice.group_of(tag); }).tags;
    note_folded(run);
  }
  // Expects that all findings together have this outcome.
  static void expect_outcome(const std::string& expected, const Totals& run,
                             const std::vector<std::string>& conditions) {
    for (const std::string& condition : conditions) {
      std::string outcome = "passed";
      for (const std::string& each : findings(condition, {run, true, nullptr}))
        if (outcome != "true" && !each.starts_with("passed: "))
          outcome = each.substr(0, each.find(':'));
      EXPECT_EQ(outcome, expected) << condition;
    }
  }
  static void expect_outcome_of_choice(const std::string& expected, Totals run,
                                       const LabelChoice& choice,
                                       const std::vector<std::string>& conditions) {
    fold(run, choice);
    expect_outcome(expected, run, conditions);
  }

  Totals run_{{},
              {transaction("request{route=/a;status=200}", 900),
               transaction("request{route=/a;status=500}", 5), transaction("request", 1000, 20),
               transaction("rest{status=404}", 7)}};
  Totals plain_{{}, run_.tags, imbalances_of(run_.tags)};  // all had room
};

TEST_F(Folded, LetNoConditionPassThatTheyMayBreak) {
  const std::vector<std::string> conditions{
      "request{status=500} calls > 10", "re*{status=4*} calls > 10",
      "request{status=500} rate > 10", "request{status=500} failed > 19",
      "request{route=*} failed% > 1", "request{*500} failed% > 1", "re*{*4* calls > 10",
      "request{status=500} total > 1 s", "request{status=500} mean > 0.3 s",
      "request max/mean by status > 1.999", "request{route=/a} max/mean by status > 1.999",
      "request{status=4*} share > 1%",
      // Perhaps no call without labels is one of the name itself.
      "request calls < 1000", "request rate < 100", "request failed < 20", "request failed% > 5",
      "request total < 100 s", "request mean > 0.3 s", "request p99 > 0.3 s",
      "request max < 0.4 s"};
  expect_outcome("unknown", run_, conditions);
  expect_outcome("passed", plain_, conditions);
  EXPECT_EQ(findings("request p99 > 0.3 s", {run_, true, nullptr}).at(0),
            "unknown: request has at most 500 ms, as 1,020 calls of request may be of label sets "
            "that had no room");
  EXPECT_TRUE(findings("request calls < 1", {run_, false, nullptr}).at(0).starts_with("unknown: "));
}

// Perhaps there is no such label set, and no call of the name itself.
TEST_F(Folded, MakeNoConditionTrue) {
  expect_outcome("unknown", run_,
                 {"request{status=404} max < 1 s", "request{zone=eu} calls < 2000",
                  "request p99 < 1 s", "\"request{status=404}\" calls > 1020"});
  EXPECT_EQ(findings("request{typo=1} max > 1 s", {run_, true, nullptr}).at(0),
            "unknown: no tag matches");
}

TEST_F(Folded, MayBeOfTagsThatAReportChooses) {
  const Totals shop{{},
                    {transaction("cart{status=500}", 5), transaction("checkout{zone=eu}", 5),
                     transaction("checkout", 9, 3)}};
  const LabelChoice of_500{.where = *parse_where("status=500")};
  const LabelChoice by_zone{.by = {{"zone"}}, .where = of_500.where};
  for (const LabelChoice& choice : {of_500, by_zone})
    expect_outcome_of_choice("unknown", shop, choice,
                             {"* failed > 0", "c*{status=*} share < 95%", "c* calls > 8"});
  expect_outcome_of_choice("unknown", shop, {.names = *Glob::parse("ch*{status*")},
                           {"* failed > 0"});
  expect_outcome_of_choice("passed", shop, {.names = *Glob::parse("ca*")}, {"* failed > 0"});
  expect_outcome_of_choice("true", shop, {.by = {{}}}, {"checkout failed > 2"});
}

// Without a rank of its own, a process folds to the bare name; with one, to the rank's.
TEST_F(Folded, OfSeveralTagsMayBeOfOne) {
  run_ = {{}, {transaction("w{rank=0;x=1}", 1), transaction("w{rank=0}", 7), transaction("w", 7)}};
  fold(run_);
  expect_outcome("unknown", run_,
                 {"w{x=1} calls > 14", "w{x=2} calls > 13", "w max/mean by rank > 9"});
  expect_outcome("passed", run_, {"w{x=1} calls > 15"});
}

TEST_F(Folded, DecideNothingThatTheyCannotChange) {
  expect_outcome("passed", run_,
                 {"request{status=500} calls > 1025", "request{route=*} failed > 20",
                  "request{status=500} mean > 0.5 s", "request{route=*} max > 0.5 s",
                  "request calls > 1020", "request{status=4*} share > 53%"});
  expect_outcome("true", run_, {"request{status=500} calls > 4", "request{route=*} max > 0.4 s"});
  const Comparison comparison = compared(run_, run_);
  EXPECT_EQ(
      findings("\"request{route=/a;status=500}\" calls > +20%", {run_, true, &comparison}).at(0),
      "unknown: request{route=/a;status=500} has a change that is not known, as in the older run "
      "1,020 calls of request may belong to it");
}

TEST_F(Folded, OfTheOlderRunLeaveChangesUnknown) {
  Totals now{{}, {transaction("other", 1)}};
  Totals before{{}, {transaction("other", 1), transaction("rest{x=1}", 1), transaction("rest", 1)}};
  fold(before, {.where = *parse_where("status=500")});
  before.tags = now.tags;
  const Comparison comparison = compared(before, now);
  const auto found = findings("* calls < -5%", {now, true, &comparison});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(
      found[1],
      "unknown: rest has a value that is not known, as in the older run 1 call of rest may be "
      "of label sets that had no room");
}

// Then it counted calls anywhere.
TEST_F(Folded, OfAnAgentWithoutRoomLeaveNothingKnown) {
  Totals full{{}, {transaction("r{i=3}", 9), transaction("r{i=2}", 9), transaction("q", 2)}};
  full.run.without_room = 2;
  expect_outcome_of_choice(
      "unknown", full, {},
      {"r{i=3} calls > 1", "r*{i=2} share < 95%", "* max/mean by i > 5", "q calls > 5"});
  const LabelChoice by_name{.by = {{}}};
  expect_outcome_of_choice("true", full, by_name, {"r calls > 17"});
  expect_outcome_of_choice("unknown", full, {.by = {{}}, .where = *parse_where("i=*")},
                           {"r calls > 17"});
  Totals overflown{{}, {transaction("q", 2), transaction("(overflow)", 1)}};
  overflown.run.may_have_overflowed = true;
  expect_outcome_of_choice("unknown", overflown, by_name, {"q calls > 1"});
  fold(overflown);
  expect({overflown, true, nullptr},
         {{"unknown: the agent had no room for the tags or labels of 1 call: raise its --max-tags; "
           "or report --by name, unless (overflow) has calls",
           {"q calls > 1"}}});
  const Comparison comparison = compared(overflown, plain_);
  expect({plain_, true, &comparison}, {{"unknown", {"re* calls > +5%"}}});
  EXPECT_NE(findings("rest* calls > 1", {plain_, true, &comparison}).at(0).substr(0, 7), "unknown");
}

// Rank 3 takes 60 s, the mean of all is 50 s.
TEST(Imbalances, AreTrueFromTheBorderOn) {
  Totals run{{},
             {made_transaction("compute{rank=0}", 100, 0.4),
              made_transaction("compute{rank=3}", 100, 0.6)}};
  run.imbalances = imbalances_of(run.tags);
  expect({run, true, nullptr},
         {{"passed", {"compute max/mean by rank > 1.2"}},
          {"true", {"compute max/mean by rank > 1.19"}},
          {"true: compute has 1.20, of rank 3, over 2 values", {"comp* max/mean by rank>=1.2"}},
          {"unknown: no name matches that has several values of host; record with --split=host, or "
           "report --by host",
           {"compute max/mean by host > 1"}}});
  expect({run, false, nullptr},
         {{"unknown: compute has calls that may be missing", {"compute max/mean by rank > 1"}}});
}

TEST(Imbalances, AreThoseOfTheLabelSetsThatMatch) {
  const Totals run{
      {},
      {made_transaction("w{rank=0;zone=a}", 1, 10), made_transaction("w{rank=1;zone=a}", 1, 10),
       made_transaction("w{rank=0;zone=b}", 1, 100), made_transaction("w{rank=1;zone=b}", 1, 1)}};
  expect({run, true, nullptr}, {{"passed", {"w{zone=a} max/mean by rank > 1.1"}},
                                {"true", {"w{zone=b} max/mean by rank > 1.9"}},
                                {"unknown", {"w{zone=c} max/mean by rank > 1"}}});
}

TEST(Imbalances, ThatAreUnknownLetNoConditionPass) {
  const Totals run{{}, {made_transaction("w{rank=0}", 1, 10), made_transaction("w{rank=1}", 1)}};
  expect({run, true, nullptr}, {{"unknown", {"* max/mean by rank > 5"}}});
}

TEST(LastValues, ThatAreNoNumberLetNoConditionPass) {
  Tag tag = made_tag(TraceType::Observe, "o", 1);
  tag.last = std::numeric_limits<double>::quiet_NaN();
  const Totals run{{}, {tag}};
  expect({run, true, nullptr}, {{"unknown", {"o value > 5", "o value < 5", "o value != 5"}}});
}

TEST(Labels, OfAPatternMatchWhateverOtherLabelsThereAre) {
  const Totals run{{},
                   {transaction("request{route=/cart;status=500}", 3),
                    transaction("request{status=500;zone=eu}", 4), transaction("request", 5),
                    transaction("request{status=200}", 6), transaction("request{x", 7)}};
  for (const auto& [pattern, count] : {std::pair("request{status=5*}", 2),
                                       {"*{status=500}", 2},
                                       {"request{zone=eu,status=500}", 1},
                                       {"request{route=/cart;status=500}", 1},
                                       {"\"request\"{status=200}", 1},
                                       {"\"request{status=200}\"", 1},
                                       {"request{x", 1},
                                       {"request*", 5}})
    EXPECT_EQ(std::ranges::count_if(
                  findings(std::string(pattern) + " calls >= 0", {run, true, nullptr}),
                  [](const std::string& finding) { return finding.starts_with("true: "); }),
              count)
        << pattern;
}

}  // namespace
}  // namespace pcp::trace::command
