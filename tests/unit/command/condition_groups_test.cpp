// SPDX-License-Identifier: LGPL-2.1-or-later
// Conditions about changes since an older run, and about shares of label sets.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "command/run/folded_calls.hpp"
#include "command/run/groups.hpp"
#include "command/run/imbalance.hpp"
#include "command/show/condition.hpp"

namespace pcp::trace::command {
namespace {

using Outcome = Condition::Outcome;

Tag transaction(const std::string& name, double completed, double failed = 0) {
  const double calls = completed + failed;
  Tag tag;
  tag.name = name;
  tag.type = TraceType::Transact;
  tag.calls = calls;
  tag.failed = failed;
  tag.rate = calls / 10;
  tag.sum = calls * 0.1;
  tag.mean = 0.1;
  tag.max = Extreme{0.5, true};
  tag.percentiles[kP99] = 0.2;
  tag.percentile_source = PercentileSource::OneWindow;
  return tag;
}

Condition::Finding finding(const std::string& text, const Condition::Checked& checked) {
  const Result<Condition> condition = Condition::parse(text);
  EXPECT_TRUE(condition) << condition.error().message;
  if (!condition) return {};
  const std::vector<Condition::Finding> found = condition->check(checked);
  EXPECT_EQ(found.size(), 1U) << text;
  return found.at(0);
}

// Two runs of a tag, and the verdict about it.
class Changes : public testing::Test {
 protected:
  Condition::Finding of(const std::string& text, bool is_complete = true) {
    Comparison comparison = compare(Side{before_, {}, {}}, Side{now_, {}, {}}, divisors_);
    comparison.is_over_runs = is_over_runs_;
    for (ComparedTag& tag : comparison.tags)
      for (Difference& change : tag.changes) {
        change.verdict = verdict_;
        change.chance = chance_;
      }
    return finding(text, {now_, is_complete, &comparison});
  }
  Outcome outcome(const std::string& text) { return of(text).outcome; }

  Totals before_{{}, {transaction("request", 100)}};
  Totals now_{{}, {transaction("request", 100)}};
  Verdict verdict_ = Verdict::Real;
  std::optional<double> chance_;
  Divisors divisors_;
  bool is_over_runs_ = false;
};

TEST_F(Changes, AreTrueFromTheBorderOn) {
  now_.tags[0].mean = 0.125;
  EXPECT_EQ(outcome("request mean > +25%"), Outcome::Passed);
  EXPECT_EQ(outcome("request mean >= +25%"), Outcome::True);
  EXPECT_EQ(outcome("request mean > +24.9%"), Outcome::True);
  EXPECT_EQ(outcome("request mean < -1%"), Outcome::Passed);
  now_.tags[0].mean = 0.05;
  EXPECT_EQ(outcome("request mean < -50%"), Outcome::Passed);
  EXPECT_EQ(outcome("request mean <= -50%"), Outcome::True);
  EXPECT_EQ(outcome("request mean > +1%"), Outcome::Passed);
  before_.tags[0].calls = 1000;
  now_.tags[0].calls = 1001;
  EXPECT_EQ(outcome("request calls >= +0.1%"), Outcome::True);
  now_.tags[0].calls = 1004;
  EXPECT_EQ(outcome("request calls > +0.4%"), Outcome::Passed);
  EXPECT_EQ(of("req* mean < -10%").line,
            "true: req* mean < -10%: request has -50%, from 100 ms to 50.0 ms");
}

TEST_F(Changes, OfATagThatOnlyTheOlderRunHasAreUnknown) {
  before_.tags.push_back(transaction("gone", 100));
  Comparison comparison = compare(Side{before_, {}, {}}, Side{now_, {}, {}});
  const Result<Condition> condition = Condition::parse("* calls < -10%");
  ASSERT_TRUE(condition);
  const auto found = condition->check({now_, true, &comparison});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].line, "unknown: * calls < -10%: gone has no calls in the newer run");
}

TEST_F(Changes, OfOneRunEachAreNeverNoise) {
  for (const Verdict verdict : {Verdict::Noise, Verdict::NotJudged}) {
    verdict_ = verdict;
    for (const double mean : {0.05, 0.1, 0.119}) {
      now_.tags[0].mean = mean;
      EXPECT_EQ(outcome("request mean > +20%"), Outcome::Passed) << mean;
    }
    now_.tags[0].mean = 0.5;
    EXPECT_EQ(
        of("request mean > +20%").line,
        "unknown: request mean > +20%: request has +400%, from 100 ms to 500 ms; three runs "
        "or more on each side decide it: --compare old-?.trace -- new-?.trace, with options before "
        "--compare");
  }
}

TEST_F(Changes, OfSeveralRunsMayBeNoise) {
  is_over_runs_ = true;
  now_.tags[0].mean = 0.5;
  verdict_ = Verdict::Noise;  // together with figures that have not changed
  for (const double chance : {0.04, 0.1}) {
    chance_ = chance;
    EXPECT_EQ(outcome("request mean > +20%"), Outcome::True) << chance;
  }
  for (const double chance : {0.11, 0.5}) {
    chance_ = chance;
    EXPECT_EQ(
        of("request mean > +20%").line,
        "unknown: request mean > +20%: request has +400%, from 100 ms to 500 ms, which may be "
        "noise: more runs on each side decide it");
    EXPECT_EQ(outcome("request mean > +400%"), Outcome::Passed);
  }
  chance_ = 0.51;
  EXPECT_EQ(of("request mean > +20%").line,
            "passed: request mean > +20%: request has +400%, from 100 ms to 500 ms, within noise");
  EXPECT_EQ(outcome("request mean >= +0%"), Outcome::Passed);
  now_.tags[0].max->is_exact = false;
  EXPECT_EQ(outcome("request max > +20%"), Outcome::Unknown);
  now_.tags[0].max->value = 1;
  EXPECT_TRUE(of("request max > +20%").line.ends_with(", which cannot be judged"));
  now_.tags[0].nonfinite = 1;
  EXPECT_EQ(outcome("request mean > +20%"), Outcome::Unknown);
  now_.tags[0].nonfinite = 0;
  chance_.reset();
  EXPECT_EQ(of("request mean > +20%").line,
            "unknown: request mean > +20%: request has +400%, from 100 ms to 500 ms, which is not "
            "judged: only the 50 tags with the most total time are, if all runs have them; "
            "--filter chooses tags");
}

TEST_F(Changes, OfValuesThatAreNotFiniteAreUnknown) {
  for (Totals* const run : {&before_, &now_}) {
    run->tags[0].type = TraceType::Observe;
    run->tags[0].nonfinite = 0;
  }
  EXPECT_EQ(outcome("request mean > +20%"), Outcome::Passed);
  now_.tags[0].nonfinite = 3;
  EXPECT_EQ(of("request mean > +20%").line,
            "unknown: request mean > +20%: request has 0%, from 0.1 to 0.1, not counting values of "
            "the newer run that are not finite");
}

TEST_F(Changes, OfPercentilesAreKnownUpToTheirErrors) {
  before_.tags[0].percentiles[kP95] = 0.1;
  now_.tags[0].percentiles[kP95] = 0.12;
  for (Totals* const run : {&before_, &now_})
    run->tags[0].percentile_source = PercentileSource::OneWindow;
  EXPECT_EQ(outcome("request p95 > +15%"), Outcome::True);  // at least 117.6 / 102
  EXPECT_EQ(of("request p95 > +20%").line,
            "unknown: request p95 > +20%: request has +20%, from 100 ms to 120 ms, too near the "
            "limit to tell: a percentile may be 2% off");
  EXPECT_EQ(outcome("request p95 > +25%"), Outcome::Passed);  // at most 122.4 / 98
}

// One step has ten times the calls and nearly all the time.
TEST_F(Changes, OfCountsAreDecidedWhateverTheNoiseIs) {
  before_.tags.push_back(transaction("query", 200));
  now_.tags.push_back(transaction("query", 1996, 4));
  for (const bool is_over_runs : {false, true}) {
    is_over_runs_ = is_over_runs;
    for (const Verdict verdict : {Verdict::Noise, Verdict::NotJudged}) {
      verdict_ = verdict;
      chance_ = verdict == Verdict::Noise ? std::optional(1.0) : std::nullopt;
      EXPECT_EQ(of("query calls > +20%").line,
                "true: query calls > +20%: query has +900%, from 200 to 2,000");
      EXPECT_EQ(outcome("query calls > +900%"), Outcome::Passed);
      EXPECT_EQ(outcome("query failed > +20%"), Outcome::True);
      EXPECT_EQ(outcome("query total > +20%") == Outcome::Passed,
                is_over_runs && verdict == Verdict::Noise);
    }
  }
}

TEST_F(Changes, OfSumsAreDivided) {
  now_.tags[0] = transaction("request", 200);
  before_.tags.push_back(transaction("query", 200));
  now_.tags.push_back(transaction("query", 600));
  divisors_ = *calls_of("request", before_, now_);
  EXPECT_EQ(of("query calls > +49%").line,
            "true: query calls > +49%: query has +50%, from 2 to 3 per call of request");
  EXPECT_EQ(outcome("query calls > +50%"), Outcome::Passed);
  EXPECT_EQ(outcome("query total > +50.1%"), Outcome::Passed);
  EXPECT_EQ(of("query mean > +1%").line,
            "passed: query mean > +1%: query has 0%, from 100 ms to 100 ms");
  divisors_ = {14, 21, {}};
  now_.tags[1].calls = 1.29 * 300;
  EXPECT_EQ(outcome("query calls > +29%"), Outcome::Passed);
  EXPECT_EQ(outcome("query calls >= +29%"), Outcome::True);
  divisors_ = {1, 3, {}};
  now_.tags[1].calls = 600;
  EXPECT_EQ(of("query calls < -1%").line,
            "passed: query calls < -1%: query has 0%, from 200 to 200 per run");
}

TEST_F(Changes, OfFailuresThatAreNewAreInfinite) {
  now_.tags[0].failed = 1;
  EXPECT_EQ(outcome("request failed > +1000%"), Outcome::True);
  EXPECT_EQ(of("request failed% > +10%").line,
            "true: request failed% > +10%: request has a change, from 0% to 1%");
  now_.tags[0].failed = 0;
  EXPECT_EQ(outcome("request failed > +1000%"), Outcome::Passed);
}

TEST_F(Changes, AreUnknownWithoutTwoWholeRuns) {
  EXPECT_EQ(of("request mean > +20%", false).line,
            "unknown: request mean > +20%: request has calls that may be missing");
  now_.tags.push_back(transaction("new", 1));
  EXPECT_EQ(of("new mean > +20%").line,
            "unknown: new mean > +20%: new has no calls in the older run");
  EXPECT_EQ(of("old mean > +20%").line, "unknown: old mean > +20%: no tag matches");
  now_.run.incomplete = {{"a", "b"}};
  EXPECT_EQ(of("request mean > +20%", false).line,
            "unknown: request mean > +20%: request has calls that may be missing in the newer run");
  now_.tags[0].mean.reset();
  now_.tags[0].lacks_times = true;
  EXPECT_EQ(
      of("request mean > +20%").line,
      "unknown: request mean > +20%: request has a change that is not known, as the newer run "
      "has failed calls without a duration; --completed leaves them out");
  before_.run.without_room = 1;
  EXPECT_TRUE(of("request mean > +20%")
                  .line.starts_with(
                      "unknown: request mean > +20%: in the older run the agent had no room for "));
  EXPECT_EQ(finding("request mean > +20%", {now_, true, nullptr}).line,
            "unknown: request mean > +20%: there is no older run");
}

class Shares : public testing::Test {
 protected:
  Condition::Finding of(const std::string& text, bool is_complete = true) {
    return finding(text, {run_, is_complete, nullptr});
  }
  Outcome outcome(const std::string& text) { return of(text).outcome; }

  Totals run_{{},
              {transaction("request{route=/cart;status=200}", 900, 70),
               transaction("request{route=/cart;status=500}", 3, 5),
               transaction("request{route=/pay;status=503}", 2),
               transaction("request{route=/pay}", 20), transaction("other{status=500}", 7)}};
};

// Ten of a thousand calls.
TEST_F(Shares, AreTrueFromTheBorderOn) {
  EXPECT_EQ(outcome("request{status=5*} share > 1%"), Outcome::Passed);
  EXPECT_EQ(outcome("request{status=5*} share >= 1%"), Outcome::True);
  EXPECT_EQ(outcome("request{status=5*} share > 0.999%"), Outcome::True);
  EXPECT_EQ(of("request{status=5*} share > 0.5%").line,
            "true: request{status=5*} share > 0.5%: request has 1%, 10 of 1,000 calls");
  EXPECT_EQ(outcome("\"request\"{status=5*} share >= 1%"), Outcome::True);
  EXPECT_EQ(outcome("req*{status=5*} share >= 1%"), Outcome::True);
}

TEST_F(Shares, MayBeOfSeveralLabels) {
  EXPECT_EQ(of("request{route=/pay,status=5*} share >= 0.2%").line,
            "true: request{route=/pay,status=5*} share >= 0.2%: request has 0.2%, 2 of 1,000 "
            "calls");
  EXPECT_EQ(outcome("request{route=/pay;status=5*} share > 0.2%"), Outcome::Passed);
}

TEST_F(Shares, OfEachNameHaveAFinding) {
  const Result<Condition> condition = Condition::parse("*{status=5*} share > 50%");
  ASSERT_TRUE(condition);
  const auto found = condition->check({run_, true, nullptr});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].line, "true: *{status=5*} share > 50%: other has 100%, 7 of 7 calls");
  EXPECT_EQ(found[1].outcome, Outcome::Passed);
}

TEST_F(Shares, OfLabelsThatDoNotOccurAreZeroButOfUnknownKeysUnknown) {
  EXPECT_EQ(outcome("request{status=4*} share > 0%"), Outcome::Passed);
  EXPECT_EQ(of("request{statsu=5*} share > 1%").line,
            "unknown: request{statsu=5*} share > 1%: no label set has statsu");
  EXPECT_EQ(of("reqest{status=5*} share > 1%").line,
            "unknown: reqest{status=5*} share > 1%: no tag matches");
}

// They may be a total over all label sets, or further calls.
TEST_F(Shares, BesideCallsWithoutLabelsAreKnownAsFarAsTheyAre) {
  run_.tags.push_back(transaction("request", 1000));
  EXPECT_EQ(of("request{status=5*} share > 0.7%").line,
            "unknown: request{status=5*} share > 0.7%: request has 0.5% to 1%, 10 of 2,000 calls");
  EXPECT_EQ(outcome("request{status=5*} share > 1%"), Outcome::Passed);
  EXPECT_EQ(outcome("request{status=5*} share >= 0.5%"), Outcome::True);
  run_.tags.back().is_folded = true;
  run_.run.folded = {run_.tags.back()};
  EXPECT_EQ(of("request{status=5*} share > 1%").line,
            "unknown: request{status=5*} share > 1%: request has 0.5% to 50.5%, 10 of 2,000 calls");
}

TEST_F(Shares, AreUnknownIfCallsAre) {
  EXPECT_EQ(of("request{status=5*} share > 99%", false).line,
            "unknown: request{status=5*} share > 99%: request has calls that may be missing");
  run_.tags[0].failed.reset();
  EXPECT_EQ(of("request{status=5*} share > 99%").outcome, Outcome::Unknown);
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
  static Outcome chosen(Totals run, const LabelChoice& choice, const std::string& text) {
    fold(run, choice);
    return outcome_of(run, text);
  }
  Outcome outcome(const std::string& text) { return outcome_of(run_, text); }
  static Outcome outcome_of(const Totals& run, const std::string& text) {
    Outcome all = Outcome::Passed;
    for (const auto& each : Condition::parse(text)->check({run, true, nullptr}))
      if (all != Outcome::True && each.outcome != Outcome::Passed) all = each.outcome;
    return all;
  }

  Totals run_{{},
              {transaction("request{route=/a;status=200}", 900),
               transaction("request{route=/a;status=500}", 5), transaction("request", 1000, 20),
               transaction("rest{status=404}", 7)}};
  Totals plain_{{}, run_.tags, imbalances_of(run_.tags)};  // all had room
};

TEST_F(Folded, LetNoConditionPassThatTheyMayBreak) {
  for (const char* const text :
       {"request{status=500} calls > 10", "re*{status=4*} calls > 10",
        "request{status=500} rate > 10", "request{status=500} failed > 19",
        "request{route=*} failed% > 1", "request{*500} failed% > 1", "re*{*4* calls > 10",
        "request{status=500} total > 1 s", "request{status=500} mean > 0.3 s",
        "request max/mean by status > 1.999", "request{route=/a} max/mean by status > 1.999",
        "request{status=4*} share > 1%",
        // Perhaps no call without labels is one of the name itself.
        "request calls < 1000", "request rate < 100", "request failed < 20", "request failed% > 5",
        "request total < 100 s", "request mean > 0.3 s", "request p99 > 0.3 s",
        "request max < 0.4 s"}) {
    EXPECT_EQ(outcome(text), Outcome::Unknown) << text;
    EXPECT_EQ(outcome_of(plain_, text), Outcome::Passed) << text;
  }
  const Condition bare = *Condition::parse("request p99 > 0.3 s");
  EXPECT_EQ(bare.check({run_, true, nullptr}).at(0).line,
            "unknown: request p99 > 0.3 s: request has at most 500 ms, as 1,020 calls of request "
            "may be of label sets that had no room");
  EXPECT_EQ(Condition::parse("request calls < 1")->check({run_, false, nullptr}).at(0).outcome,
            Outcome::Unknown);
}

// Perhaps there is no such label set, and no call of the name itself.
TEST_F(Folded, MakeNoConditionTrue) {
  for (const char* const text :
       {"request{status=404} max < 1 s", "request{zone=eu} calls < 2000", "request p99 < 1 s"})
    EXPECT_EQ(outcome(text), Outcome::Unknown) << text;
  EXPECT_EQ(outcome("\"request{status=404}\" calls > 1020"), Outcome::Unknown);
  EXPECT_EQ(Condition::parse("request{typo=1} max > 1 s")->check({run_, true, nullptr}).at(0).line,
            "unknown: request{typo=1} max > 1 s: no tag matches");
}

TEST_F(Folded, MayBeOfTagsThatAReportChooses) {
  const Totals shop{{},
                    {transaction("cart{status=500}", 5), transaction("checkout{zone=eu}", 5),
                     transaction("checkout", 9, 3)}};
  const LabelChoice of_500{.where = *parse_where("status=500")};
  const LabelChoice by_zone{.by = {{"zone"}}, .where = of_500.where};
  for (const char* const text : {"* failed > 0", "c*{status=*} share < 95%", "c* calls > 8"})
    for (const LabelChoice& choice : {of_500, by_zone})
      EXPECT_EQ(chosen(shop, choice, text), Outcome::Unknown) << text;
  EXPECT_EQ(chosen(shop, {.names = *Glob::parse("ch*{status*")}, "* failed > 0"), Outcome::Unknown);
  EXPECT_EQ(chosen(shop, {.names = *Glob::parse("ca*")}, "* failed > 0"), Outcome::Passed);
  EXPECT_EQ(chosen(shop, {.by = {{}}}, "checkout failed > 2"), Outcome::True);
}

// Without a rank of its own, a process folds to the bare name; with one, to the rank's.
TEST_F(Folded, OfSeveralTagsMayBeOfOne) {
  run_ = {{}, {transaction("w{rank=0;x=1}", 1), transaction("w{rank=0}", 7), transaction("w", 7)}};
  fold(run_);
  EXPECT_EQ(outcome("w{x=1} calls > 14"), Outcome::Unknown);
  EXPECT_EQ(outcome("w{x=1} calls > 15"), Outcome::Passed);
  EXPECT_EQ(outcome("w{x=2} calls > 13"), Outcome::Unknown);
  EXPECT_EQ(outcome("w max/mean by rank > 9"), Outcome::Unknown);
}

TEST_F(Folded, DecideNothingThatTheyCannotChange) {
  for (const char* const text : {"request{status=500} calls > 1025", "request{route=*} failed > 20",
                                 "request{status=500} mean > 0.5 s", "request{route=*} max > 0.5 s",
                                 "request calls > 1020", "request{status=4*} share > 53%"})
    EXPECT_EQ(outcome(text), Outcome::Passed) << text;
  EXPECT_EQ(outcome("request{status=500} calls > 4"), Outcome::True);
  EXPECT_EQ(outcome("request{route=*} max > 0.4 s"), Outcome::True);
  Comparison comparison = compare(Side{run_, {}, {}}, Side{run_, {}, {}});
  const Condition change = *Condition::parse("\"request{route=/a;status=500}\" calls > +20%");
  EXPECT_EQ(change.check({run_, true, &comparison}).at(0).line,
            "unknown: \"request{route=/a;status=500}\" calls > +20%: request{route=/a;status=500} "
            "has a change that is not known, as in the older run 1,020 calls of request may belong "
            "to it");
}

TEST_F(Folded, OfTheOlderRunLeaveChangesUnknown) {
  Totals now{{}, {transaction("other", 1)}};
  Totals before{{}, {transaction("other", 1), transaction("rest{x=1}", 1), transaction("rest", 1)}};
  fold(before, {.where = *parse_where("status=500")});
  before.tags = now.tags;
  const Comparison comparison = compare(Side{before, {}, {}}, Side{now, {}, {}});
  const auto found = Condition::parse("* calls < -5%")->check({now, true, &comparison});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(
      found[1].line,
      "unknown: * calls < -5%: rest has a value that is not known, as in the older run 1 call "
      "of rest may be of label sets that had no room");
}

// Then it counted calls anywhere.
TEST_F(Folded, OfAnAgentWithoutRoomLeaveNothingKnown) {
  Totals full{{}, {transaction("r{i=3}", 9), transaction("r{i=2}", 9), transaction("q", 2)}};
  full.run.without_room = 2;
  for (const char* const text :
       {"r{i=3} calls > 1", "r*{i=2} share < 95%", "* max/mean by i > 5", "q calls > 5"})
    EXPECT_EQ(chosen(full, {}, text), Outcome::Unknown) << text;
  const LabelChoice by_name{.by = {{}}};
  EXPECT_EQ(chosen(full, by_name, "r calls > 17"), Outcome::True);
  EXPECT_EQ(chosen(full, {.by = {{}}, .where = *parse_where("i=*")}, "r calls > 17"),
            Outcome::Unknown);
  Totals overflown{{}, {transaction("q", 2), transaction("(overflow)", 1)}};
  overflown.run.may_have_overflowed = true;
  EXPECT_EQ(chosen(overflown, by_name, "q calls > 1"), Outcome::Unknown);
  fold(overflown);
  EXPECT_EQ(
      finding("q calls > 1", {overflown, true, nullptr}).line,
      "unknown: q calls > 1: the agent had no room for the tags or labels of 1 call: raise its "
      "--max-tags; or report --by name, unless (overflow) has calls");
  const Comparison comparison = compare(Side{overflown, {}, {}}, Side{plain_, {}, {}});
  EXPECT_EQ(finding("re* calls > +5%", {plain_, true, &comparison}).outcome, Outcome::Unknown);
  EXPECT_NE(finding("rest* calls > 1", {plain_, true, &comparison}).outcome, Outcome::Unknown);
}

// Rank 3 takes 60 s, the mean of all is 50 s.
TEST(Imbalances, AreTrueFromTheBorderOn) {
  Totals run;
  for (const auto& [rank, seconds] : {std::pair("0", 40.0), std::pair("3", 60.0)}) {
    run.tags.push_back(transaction("compute{rank=" + std::string(rank) + "}", 100));
    run.tags.back().sum = seconds;
  }
  run.imbalances = imbalances_of(run.tags);
  const Condition::Checked checked{run, true, nullptr};
  EXPECT_EQ(finding("compute max/mean by rank > 1.2", checked).outcome, Outcome::Passed);
  EXPECT_EQ(finding("compute max/mean by rank > 1.19", checked).outcome, Outcome::True);
  EXPECT_EQ(finding("comp* max/mean by rank>=1.2", checked).line,
            "true: comp* max/mean by rank>=1.2: compute has 1.20, of rank 3, over 2 values");
  EXPECT_EQ(finding("compute max/mean by host > 1", checked).line,
            "unknown: compute max/mean by host > 1: no name matches that has several values of "
            "host; record with --split=host, or report --by host");
  EXPECT_EQ(finding("compute max/mean by rank > 1", {run, false, nullptr}).line,
            "unknown: compute max/mean by rank > 1: compute has calls that may be missing");
}

Tag part_of_work(const std::string& name, std::optional<double> sum) {
  Tag tag = transaction(name, 1);
  tag.sum = sum;
  return tag;
}

TEST(Imbalances, AreThoseOfTheLabelSetsThatMatch) {
  const Totals run{{},
                   {part_of_work("w{rank=0;zone=a}", 10), part_of_work("w{rank=1;zone=a}", 10),
                    part_of_work("w{rank=0;zone=b}", 100), part_of_work("w{rank=1;zone=b}", 1)}};
  const auto outcome = [&](const std::string& condition) {
    return Condition::parse(condition)->check({run, true, nullptr}).at(0).outcome;
  };
  EXPECT_EQ(outcome("w{zone=a} max/mean by rank > 1.1"), Condition::Outcome::Passed);
  EXPECT_EQ(outcome("w{zone=b} max/mean by rank > 1.9"), Condition::Outcome::True);
  EXPECT_EQ(outcome("w{zone=c} max/mean by rank > 1"), Condition::Outcome::Unknown);
}

TEST(Imbalances, ThatAreUnknownLetNoConditionPass) {
  const Totals run{{}, {part_of_work("w{rank=0}", 10), part_of_work("w{rank=1}", {})}};
  EXPECT_EQ(Condition::parse("* max/mean by rank > 5")->check({run, true, nullptr}).at(0).outcome,
            Condition::Outcome::Unknown);
}

TEST(LastValues, ThatAreNoNumberLetNoConditionPass) {
  Tag tag = part_of_work("o", {});
  tag.type = TraceType::Observe;
  tag.last = std::numeric_limits<double>::quiet_NaN();
  const Totals run{{}, {tag}};
  for (const char* const condition : {"o value > 5", "o value < 5", "o value != 5"})
    EXPECT_EQ(Condition::parse(condition)->check({run, true, nullptr}).at(0).outcome,
              Condition::Outcome::Unknown)
        << condition;
}

TEST(Labels, OfAPatternMatchWhateverOtherLabelsThereAre) {
  const Totals run{{},
                   {transaction("request{route=/cart;status=500}", 3),
                    transaction("request{status=500;zone=eu}", 4), transaction("request", 5),
                    transaction("request{status=200}", 6), transaction("request{x", 7)}};
  const auto matching = [&](const std::string& pattern) {
    const Result<Condition> condition = Condition::parse(pattern + " calls >= 0");
    EXPECT_TRUE(condition) << condition.error().message;
    std::size_t known = 0;
    for (const auto& found : condition->check({run, true, nullptr}))
      known += found.outcome == Outcome::True ? 1 : 0;
    return known;
  };
  EXPECT_EQ(matching("request{status=5*}"), 2U);
  EXPECT_EQ(matching("*{status=500}"), 2U);
  EXPECT_EQ(matching("request{zone=eu,status=500}"), 1U);
  EXPECT_EQ(matching("request{route=/cart;status=500}"), 1U);
  EXPECT_EQ(matching("\"request\"{status=200}"), 1U);
  EXPECT_EQ(matching("\"request{status=200}\""), 1U);
  EXPECT_EQ(matching("request{x"), 1U);
  EXPECT_EQ(matching("request*"), 5U);
}

}  // namespace
}  // namespace pcp::trace::command
