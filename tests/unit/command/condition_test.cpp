// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/condition.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "command/run/groups.hpp"
#include "support/error_of.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

using Outcome = Condition::Outcome;

Tag checkout() {
  Tag tag;
  tag.name = "checkout";
  tag.type = TraceType::Transact;
  tag.calls = 1000;
  tag.failed = 100;
  tag.vanished = 2;
  tag.rate = 90;
  tag.sum = 18;
  tag.mean = 0.020;
  tag.min = Extreme{0.002, true};
  tag.max = Extreme{0.5, true};
  tag.percentiles = {0.010, 0.030, 0.040, 0.060, 0.100};
  tag.percentile_source = PercentileSource::OneWindow;
  return tag;
}

Tag named(Tag tag, const std::string& name) {
  tag.name = name;
  return tag;
}

Tag queue() {
  Tag tag;
  tag.name = "queue";
  tag.type = TraceType::Observe;
  tag.calls = 10;
  tag.nonfinite = 0;
  tag.percentiles[kP99] = 17;
  return tag;
}

std::vector<Condition::Finding> findings(const std::string& text, const std::vector<Tag>& tags,
                                         bool are_complete = true) {
  const Result<Condition> condition = Condition::parse(text);
  EXPECT_TRUE(condition) << condition.error().message;
  const Totals run{{}, tags};
  return condition ? condition->check({run, are_complete, nullptr})
                   : std::vector<Condition::Finding>(1);
}

Outcome outcome(const std::string& text, const std::vector<Tag>& tags) {
  const auto found = findings(text, tags);
  EXPECT_EQ(found.size(), 1U) << text;
  return found.at(0).outcome;
}

using Outcomes = std::map<Outcome, std::vector<std::string>>;

// The conditions follow the name of the tag.
void expect(const Tag& tag, const Outcomes& expected) {
  for (const auto& [its, conditions] : expected)
    for (const std::string& condition : conditions)
      EXPECT_EQ(outcome(tag.name + ' ' + condition, {tag}), its) << condition;
}

TEST(Condition, ShowsTimesAsTablesDo) {
  Tag tag = checkout();
  tag.mean = 893e-6;
  const Totals run{{}, {tag}};
  for (const auto& [is_utf8, time] : {std::pair(true, "893 µs"), std::pair(false, "893 us")}) {
    EXPECT_TRUE(has(
        Condition::parse("* mean > 1us", {is_utf8})->check({run, true, nullptr})[0].line, time));
  }
}

TEST(Condition, IsTrueBeyondItsLimit) {
  for (const char* const condition :
       {"checkout p99 > 50ms",       "checkout p99>50ms",        "checkout p99 >= 0.05 s",
        "checkout p50 < 11ms",       "checkout mean == 20ms",    "checkout p999 != 90ms",
        "checkout p95 <= 41000us",   "checkout calls > 999",     "checkout completed > 899",
        "checkout rate < 91",        "checkout failed == 100",   "checkout vanished == 2",
        "checkout failed% >= 10",    "checkout failed > 9.9%",   "checkout mean > 19ms",
        "checkout max > 499ms",      "ch*t p99 > 50ms",          "\"checkout\" p99 > 5e7ns",
        "checkout mean == 20000us",  "checkout mean == 20000µs", "checkout max > 0.008min",
        "\tcheckout\tmax > 499ms \t"})
    EXPECT_EQ(outcome(condition, {checkout()}), Outcome::True) << condition;
  for (const char* const passed :
       {"checkout p99 > 62ms", "checkout p99 < 58ms", "checkout calls != 1000",
        "checkout completed > 900", "checkout vanished > 2", "checkout failed% > 10",
        "checkout max >= 1s", "checkout mean == 21ms", "checkout max > 0.009min"})
    EXPECT_EQ(outcome(passed, {checkout()}), Outcome::Passed) << passed;
}

// Exact values, on both sides of the border.
TEST(Condition, IsTrueFromTheBorderOn) {
  const Tag tag = checkout();
  Tag few = named(checkout(), "few");
  few.calls = 100;
  few.failed = 29;
  Tag bytes = named({}, "bytes");
  bytes.type = TraceType::Counter;
  bytes.calls = 3;
  bytes.counted = 4096;
  bytes.last = 5000;
  Tag seen = queue();
  seen.last = 7;
  seen.sum = 42;
  seen.min = Extreme{-3, true};
  for (const auto& [what, border, less] :
       std::vector<std::array<std::string, 3>>{{"checkout total", "18s", "17.999s"},
                                               {"checkout min", "2ms", "1.999ms"},
                                               {"checkout calls", "1000", "999"},
                                               {"checkout failed%", "10", "9.999"},
                                               {"few failed%", "29", "28.999"},
                                               {"bytes added", "4096", "4095"},
                                               {"bytes value", "5000", "4999"},
                                               {"queue value", "7", "6.999"},
                                               {"queue total", "42", "41.9"},
                                               {"queue min", "-3", "-3.001"}}) {
    const std::vector<Tag> tags{tag, few, bytes, seen};
    EXPECT_EQ(outcome(what + " > " + border, tags), Outcome::Passed) << what;
    EXPECT_EQ(outcome(what + " >= " + border, tags), Outcome::True) << what;
    EXPECT_EQ(outcome(what + " > " + less, tags), Outcome::True) << what;
    EXPECT_EQ(outcome(what + " == " + border, tags), Outcome::True) << what;
    EXPECT_EQ(outcome(what + " <= " + less, tags), Outcome::Passed) << what;
  }
}

TEST(Condition, AboutAdditionsIsUnknownForACounterThatIsOnlySet) {
  Tag depth = named({}, "depth");
  depth.type = TraceType::Counter;
  depth.calls = 3;
  depth.counted = 0;
  EXPECT_EQ(findings("depth added > 10", {depth})[0].line,
            "unknown: depth added > 10: depth has no additions, or only those of 0; for values that"
            " were set there is 'value'");
  depth.calls = 0;  // a counter that nothing has reached is known: nothing was added
  EXPECT_EQ(outcome("depth added > 10", {depth}), Outcome::Passed);
}

TEST(Condition, OfTheSeventyFifthPercentileNeedsADistribution) {
  Tag tag = checkout();
  EXPECT_EQ(findings("checkout p75 > 1s", {tag})[0].line,
            "unknown: checkout p75 > 1s: checkout has no p75 in this recording");
  tag.percentile_source = PercentileSource::Histogram;
  tag.distribution.emplace();
  for (int i = 0; i < 1000; ++i) tag.distribution->add(i < 745 ? 0.010 : 0.020);
  expect(tag, {{Outcome::True, {"p75 > 19ms"}},
               {Outcome::Unknown, {"p75 > 20ms"}},
               {Outcome::Passed, {"p75 > 21ms"}}});
  tag.percentile_source = PercentileSource::OneValue;
  tag.distribution.reset();
  tag.min = tag.max = Extreme{0.020, true};
  EXPECT_EQ(outcome("checkout p75 > 20ms", {tag}), Outcome::Passed);
  EXPECT_EQ(outcome("checkout p75 >= 20ms", {tag}), Outcome::True);
}

TEST(Condition, OfAMinimumThatMayBeLessIsKnownAsFarAsItIs) {
  Tag tag = checkout();
  tag.min = Extreme{0.002, false};
  expect(tag, {{Outcome::True, {"min < 3ms"}},
               {Outcome::Unknown, {"min < 1ms"}},
               {Outcome::Passed, {"min > 2ms"}}});
  EXPECT_EQ(findings("* min > 1ms", {tag})[0].line,
            "unknown: * min > 1ms: checkout has at most 2.00 ms");
}

TEST(Condition, SaysWhichTagBrokeItAndWithWhat) {
  EXPECT_EQ(findings("* p99 > 50ms", {checkout()})[0].line,
            "true: * p99 > 50ms: checkout has 58.8 ms to 61.2 ms");
  EXPECT_EQ(findings("* mean > 5ms", {checkout()})[0].line,
            "true: * mean > 5ms: checkout has 20.0 ms");
  EXPECT_EQ(findings("* failed > 9%", {checkout()})[0].line,
            "true: * failed > 9%: checkout has 10%");
  EXPECT_EQ(findings("* calls > 9", {named(checkout(), "red\x1b[31m")})[0].line,
            "true: * calls > 9: red\\x1b[31m has 1,000");
}

TEST(Condition, OfCountsIsOfAllTypes) {
  EXPECT_EQ(findings("* calls > 1", {checkout(), queue()}).size(), 2U);
}

TEST(Condition, IsOfEachTagThatMatches) {
  const auto found = findings("check* p99 > 50ms",
                              {checkout(), named(checkout(), "check"), named(checkout(), "other")});
  EXPECT_EQ(found.size(), 2U);
}

TEST(Condition, InQuotesATagIsTakenAsItIs) {
  EXPECT_EQ(outcome("\"my * tag\" calls > 1", {named(checkout(), "my * tag")}), Outcome::True);
  EXPECT_EQ(outcome("\"my * tag\" calls > 1", {named(checkout(), "my own tag")}), Outcome::Unknown);
  EXPECT_EQ(outcome(R"("say \"hi\" \\" calls > 1)", {named(checkout(), R"(say "hi" \)")}),
            Outcome::True);
}

TEST(Condition, OfNoTagIsUnknown) {
  EXPECT_EQ(findings("chekcout p99 > 50ms", {checkout()})[0].line,
            "unknown: chekcout p99 > 50ms: no tag matches");
  EXPECT_EQ(findings("check p99 > 50ms", {checkout()})[0].line,
            "unknown: check p99 > 50ms: no tag matches; some begin so: check*");
  EXPECT_EQ(
      findings("check p99 > 50ms", {named(checkout(), "check{a=b}")})[0].line,
      "unknown: check p99 > 50ms: no tag matches; check* matches each label set; --by name adds "
      "them up");
  EXPECT_EQ(findings("check{a=c} calls > 0", {named(checkout(), "check{a=b}")})[0].line,
            "unknown: check{a=c} calls > 0: no label set matches; a share, as in share > 0%, is 0% "
            "then");
  EXPECT_EQ(outcome("* p99 > 50ms", {}), Outcome::Unknown);
}

TEST(Condition, OfAnUnknownValueIsUnknown) {
  Tag tag = checkout();
  tag.percentiles = {};
  tag.percentile_source = PercentileSource::SeveralWindows;
  EXPECT_EQ(findings("checkout p99 > 50ms", {tag})[0].line,
            "unknown: checkout p99 > 50ms: checkout has percentiles of single windows only, "
            "and no histogram");
  for (const auto& [source, why] : std::vector<std::pair<PercentileSource, std::string>>{
           {PercentileSource::SeveralHosts, "percentiles of single hosts only, and no histogram"},
           {PercentileSource::IncompleteHistogram, "a histogram that lacks some calls"},
           {PercentileSource::NotRecorded, "no percentiles in this recording"}}) {
    tag.percentile_source = source;
    EXPECT_EQ(findings("* p99 > 1s", {tag})[0].line, "unknown: * p99 > 1s: checkout has " + why);
  }
  tag.max.reset();
  EXPECT_EQ(findings("* max > 1s", {tag})[0].line,
            "unknown: * max > 1s: checkout has no such value in this recording");
  tag.failed.reset();
  EXPECT_EQ(outcome("checkout failed > 0", {tag}), Outcome::Unknown);
  EXPECT_EQ(outcome("checkout failed% > 0", {tag}), Outcome::Unknown);
}

TEST(Condition, OfAMaximumThatMayBeGreaterIsKnownAsFarAsItIs) {
  Tag tag = checkout();
  tag.max->is_exact = false;
  expect(tag, {{Outcome::True, {"max > 499ms", "max >= 500ms"}},
               {Outcome::Unknown,
                {"max > 501ms", "max < 501ms", "max >= 501ms", "max <= 501ms", "max == 501ms"}},
               {Outcome::Passed, {"max < 499ms", "max <= 499ms"}}});
  // But a histogram of all calls has none beyond it.
  tag.percentile_source = PercentileSource::Histogram;
  tag.distribution.emplace();
  tag.distribution->add(0.5);
  EXPECT_EQ(outcome("checkout max > 520ms", {tag}), Outcome::Passed);
  EXPECT_EQ(outcome("checkout max > 499ms", {tag}), Outcome::True);
  tag.nonfinite = 1;
  expect(tag, {{Outcome::Unknown, {"max > 520ms", "max != 501ms"}},
               {Outcome::Passed, {"max == 499ms"}},
               {Outcome::True, {"max != 499ms"}}});
  EXPECT_EQ(findings("* max > 501ms", {tag})[0].line,
            "unknown: * max > 501ms: checkout has at least 500 ms");
}

// 900 calls of 20 ms, and 100 of 2 s that failed.
Tag failing() {
  Tag completed = checkout();
  completed.calls = 900;
  completed.failed = 0;
  Tag failed = completed;
  failed.calls = 100;
  failed.failed = 100;
  failed.sum = 200;
  failed.mean = 2;
  failed.min = failed.max = Extreme{2, true};
  failed.percentiles.fill(2);
  return with_failed(completed, failed);
}

TEST(Condition, MayBeOfTheCallsThatFailedOrOfTheOthers) {
  expect(failing(),
         {{Outcome::True,
           {"max > 1s", "failed max > 1s", "failed mean == 2s", "failed p99 > 1.9s", "total > 217s",
            "completed total == 18s", "completed > 899"}},
          {Outcome::Unknown, {"p99 > 1s"}},
          {Outcome::Passed, {"completed max > 1s", "completed p99 > 62ms", "failed min < 1s"}}});
  EXPECT_EQ(findings("* failed max > 1s", {failing()})[0].line,
            "true: * failed max > 1s: checkout has 2.00 s");
  Tag none = checkout();
  none.failed = 0;
  EXPECT_EQ(findings("* failed max > 1s", {none})[0].line,
            "passed: * failed max > 1s: checkout has no failed calls");
}

TEST(Condition, IsUnknownIfFailedCallsMayDecideIt) {
  Tag tag = failing();
  tag.lacks_times = true;
  tag.max->is_exact = false;
  tag.sum.reset();
  expect(tag, {{Outcome::True, {"max > 1s"}},
               {Outcome::Unknown, {"max > 3s", "total > 1s"}},
               {Outcome::Passed, {"completed max > 1s"}}});
  EXPECT_EQ(findings("* total > 1s", {tag})[0].line,
            "unknown: * total > 1s: checkout has failed calls without a duration; --completed "
            "leaves them out");
  Tag stock = checkout();  // PCP's own agent does not count them
  stock.failed.reset();
  expect(stock, {{Outcome::True, {"max > 400ms", "calls > 999", "completed mean > 19ms"}},
                 {Outcome::Unknown, {"max > 1s", "p99 > 1s", "calls > 1000", "failed max > 1s"}},
                 {Outcome::Passed, {"completed max > 1s", "completed > 1000"}}});
  EXPECT_EQ(findings("* failed max > 1s", {stock})[0].line,
            "unknown: * failed max > 1s: checkout has failed calls that were not recorded");
  // Calls without labels may be of it, and may have failed.
  Tag none = checkout();
  none.failed = 0;
  none.folded = std::make_shared<const Tag>(failing());
  expect(none, {{Outcome::Unknown, {"failed max > 1s", "failed > 99", "max > 1s"}},
                {Outcome::Passed, {"failed > 100", "completed max > 1s"}}});
  Tag unknown = failing();
  unknown.failed.reset();
  none.folded = std::make_shared<const Tag>(unknown);
  expect(none, {{Outcome::Unknown, {"calls > 5000", "max > 3s"}}});
}

// A condition passes only if the value is further from the limit than its error.
TEST(Condition, WithinTheErrorOfAPercentileIsUnknown) {
  EXPECT_EQ(outcome("checkout p99 > 60.5ms", {checkout()}), Outcome::Unknown);
  EXPECT_EQ(
      findings("* p99 > 59ms", {checkout()})[0].line,
      "unknown: * p99 > 59ms: checkout has 58.8 ms to 61.2 ms, as a percentile may be 2% off");
  Tag tag = checkout();  // a distribution gives the value's bin
  tag.percentile_source = PercentileSource::Histogram;
  tag.distribution.emplace();
  for (int i = 0; i < 1000; ++i) tag.distribution->add(0.060);
  expect(tag, {{Outcome::Unknown, {"p99 > 60.1ms"}},
               {Outcome::True, {"p99 > 59.5ms"}},
               {Outcome::Passed, {"p99 > 60.6ms"}}});
  tag.min = Extreme{0.060, true};
  tag.max = Extreme{0.060, true};
  expect(tag,
         {{Outcome::True, {"p99 > 59.9ms", "p99 == 60ms"}}, {Outcome::Passed, {"p99 > 60ms"}}});
}

TEST(Condition, WhereCallsMayBeMissingOnlyWhatGrowsIsKnownToBreak) {
  for (const auto& [condition, expected] : std::vector<std::pair<std::string, std::string>>{
           {"calls > 999", "true: * calls > 999: checkout has at least 1,000"},
           {"calls > 1000", "unknown: * calls > 1000: checkout has at least 1,000"},
           {"calls < 1000", "passed: * calls < 1000: checkout has at least 1,000"},
           {"calls != 1000", "unknown: * calls != 1000: checkout has at least 1,000"},
           {"completed > 899", "true: * completed > 899: checkout has at least 900"},
           {"failed > 5", "true: * failed > 5: checkout has at least 100"},
           {"vanished > 1", "unknown: * vanished > 1: checkout has calls that may be missing"},
           {"max > 400ms", "true: * max > 400ms: checkout has at least 500 ms"},
           {"max > 1s", "unknown: * max > 1s: checkout has at least 500 ms"},
           {"mean > 1ms", "unknown: * mean > 1ms: checkout has calls that may be missing"},
           {"total > 17s", "true: * total > 17s: checkout has at least 18.0 s"},
           {"total > 19s", "unknown: * total > 19s: checkout has at least 18.0 s"},
           {"min < 3ms", "true: * min < 3ms: checkout has at most 2.00 ms"},
           {"min < 1ms", "unknown: * min < 1ms: checkout has at most 2.00 ms"},
           {"rate > 1", "unknown: * rate > 1: checkout has calls that may be missing"},
           {"failed > 1%", "unknown: * failed > 1%: checkout has calls that may be missing"},
           {"p99 > 1ms", "unknown: * p99 > 1ms: checkout has calls that may be missing"}})
    EXPECT_EQ(findings("* " + condition, {checkout()}, false)[0].line, expected);
}

// Ten of a thousand values are missing. Small and great ones would give different percentiles.
TEST(Condition, OfAPercentileThatLacksCallsIsKnownAsFarAsItIs) {
  Tag tag = checkout();
  tag.calls = 1000;
  tag.distribution.emplace();
  for (int i = 1; i <= 990; ++i) tag.distribution->add(i <= 945 ? 0.01 : 1);
  tag.percentile_source = PercentileSource::NearlyAllCalls;
  tag.percentiles[kP95] = 0.01;
  tag.percentiles[kP999] = 1;
  tag.max = Extreme{2, true};
  expect(tag, {{Outcome::True, {"p95 > 5ms", "p999 > 950ms"}},
               {Outcome::Unknown, {"p95 > 500ms", "p999 > 1500ms"}},
               {Outcome::Passed, {"p95 > 1100ms", "p999 > 2100ms"}}});
  tag.max->is_exact = false;
  EXPECT_EQ(outcome("checkout p999 > 2100ms", {tag}), Outcome::Unknown);
  // Some of the 990 values are from another time, perhaps small ones.
  for (const auto& [outside, expected] :
       {std::pair(10.0, Outcome::Passed), std::pair(100.0, Outcome::Unknown)}) {
    tag.outside = outside;
    tag.calls = 990 - outside;
    EXPECT_EQ(outcome("checkout p95 > 500ms", {tag}), expected);
  }
}

// An infinite value may be the greatest one.
TEST(Condition, OfAPercentileOfFiniteValuesIsKnownWhereverTheOthersLie) {
  Tag tag = queue();
  tag.calls = 1000;
  tag.nonfinite = 1;
  tag.distribution.emplace();
  for (int i = 0; i < 999; ++i) tag.distribution->add(17);
  tag.percentile_source = PercentileSource::Histogram;
  EXPECT_EQ(outcome("queue p99 > 18", {tag}), Outcome::Passed);
  tag.percentiles[kP999] = 17;
  EXPECT_EQ(outcome("queue p999 > 18", {tag}), Outcome::Passed);
  tag.nonfinite = 20;
  tag.calls = 1019;
  EXPECT_EQ(outcome("queue p99 > 18", {tag}), Outcome::Unknown);
  EXPECT_EQ(outcome("queue p99 > 16", {tag}), Outcome::True);
}

TEST(Condition, OfAMeanOfValuesThatAreNotAllFiniteIsUnknown) {
  Tag tag = queue();
  tag.mean = 17;
  EXPECT_EQ(outcome("queue mean > 1e9", {tag}), Outcome::Passed);
  tag.nonfinite = 1;
  EXPECT_EQ(findings("queue mean > 1e9", {tag})[0].line,
            "unknown: queue mean > 1e9: queue has values that are not finite");
  tag.nonfinite.reset();
  EXPECT_EQ(findings("queue mean > 1e9", {tag})[0].line,
            "unknown: queue mean > 1e9: queue has values that may not be finite: the archive has no"
            " trace.observe.nonfinite");
}

// Half of the values may be infinite, and less than the others.
TEST(Condition, OfALowPercentileIsUnknownWhereOtherValuesMayBeLess) {
  Tag tag = queue();
  tag.calls = 2;
  tag.nonfinite = 1;
  tag.distribution.emplace();
  tag.distribution->add(5);
  tag.percentile_source = PercentileSource::Histogram;
  tag.percentiles[0] = 5;
  tag.min = Extreme{5, false};
  EXPECT_EQ(findings("queue p50 > 1", {tag})[0].line,
            "unknown: queue p50 > 1: queue has at most 5.12");
}

TEST(Condition, WithATimeIsOfTransactionsWithoutOfObservations) {
  EXPECT_EQ(findings("* p99 > 10ms", {checkout(), queue()}).size(), 1U);
  EXPECT_EQ(outcome("* p99 > 16", {checkout(), queue()}), Outcome::True);
  EXPECT_EQ(findings("checkout p99 > 50", {checkout()})[0].line,
            "unknown: checkout p99 > 50: no observation matches; for a transaction give a unit: "
            "ns, us, ms, s, min");
  EXPECT_EQ(findings("queue failed > 0", {queue()})[0].line,
            "unknown: queue failed > 0: no transaction matches");
  EXPECT_EQ(findings("queue added > 0", {queue()})[0].line,
            "unknown: queue added > 0: no counter matches");
  EXPECT_EQ(findings("checkout value > 0", {checkout()})[0].line,
            "unknown: checkout value > 0: no observation or counter matches");
}

TEST(Condition, ThatIsUnknownForManyTagsForOneReasonHasOneLineInShort) {
  Tag tag = checkout();
  tag.failed.reset();
  std::vector<Tag> tags;
  for (const char* const name : {"a", "b", "c\n", "d", "e"}) tags.push_back(named(tag, name));
  auto found = findings("* failed > 0", tags);
  for (const auto& each : findings("* max > 499ms", tags)) found.push_back(each);
  const auto lines = in_short(found);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].line,
            "unknown: * failed > 0: a, b, c\\x0a and 2 more tags each have no such value in this "
            "recording");
  found.resize(3);
  EXPECT_EQ(in_short(found).size(), 3U);
  const Condition::Finding of_no_tag{Outcome::Unknown, "unknown: an archive", "the recording"};
  EXPECT_EQ(in_short({5, of_no_tag}).size(), 5U);
}

TEST(Condition, SharesOfNothingAreUnknown) {
  Tag tag = checkout();
  tag.calls = 0;
  tag.failed = 0;
  EXPECT_EQ(findings("* failed% > 0", {tag})[0].line,
            "unknown: * failed% > 0: checkout has no calls");
}

TEST(Condition, OfATagWhoseTransactionsMayHaveEndedWithMoreLabelsSaysHowToAddThemUp) {
  Tag begun = named(checkout(), "request{route=/a}");
  begun.calls = 0;
  begun.failed = 0;
  begun.percentile_source = PercentileSource::NoCalls;
  begun.percentiles = {};
  const Tag ended = named(checkout(), "request{route=/a;status=200}");
  const std::string unknown = "unknown: * p99 > 1s: request{route=/a} has no calls";
  const auto found = findings("* p99 > 1s", {begun, ended});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].line, unknown + "; --by route adds those that ended with more labels");
  EXPECT_EQ(found[1].outcome, Outcome::Passed);
  // Nothing else tells of these.
  EXPECT_EQ(findings("* p99 > 1s", {begun, named(ended, "request{route=/b;status=200}")})[0].line,
            unknown);
  EXPECT_EQ(findings("* p99 > 1s", {begun, named(begun, ended.name)})[0].line, unknown);
  // A number of calls is known, and judged.
  EXPECT_EQ(findings("* calls < 1", {begun, ended})[0].outcome, Outcome::True);
}

TEST(Condition, ThatIsNoneSaysWhatIsMissing) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "A condition is 'TAG WHAT OP NUMBER[UNIT]'"},
           {"checkout", "expected after the tag: calls"},
           {"checkout p98 > 1ms", "not \"p98\""},
           {"checkout completed > 3ms", "for times write 'completed max'"},
           {"checkout count > 1", "'count' is 'calls' now"},
           {"checkout failed Max > 1s", "not \"Max > 1s\""},
           {"checkout failed rate > 1", "expected after 'failed': an operator, or total, mean, "},
           {"checkout completed max > 1", "a time needs a unit"},
           {"checkout failed max > +20%", "choose them with --completed or --failed"},
           {"checkout p99 =< 1ms", "one of < <= > >= == !="},
           {"checkout p99 > fast", "\"fast\" is no number"},
           {"checkout p99 > nan", "is no number"},
           {"checkout p99 > 1 parsec", "\"parsec\" is not a unit"},
           {"checkout calls > 1ms", "\"ms\" is not a unit"},
           {"checkout p99 > 1%", "\"%\" is not a unit"},
           {"checkout p99 > 20%", "; a change has a sign, as in +20%"},
           {"checkout value > 1s", "\"s\" is not a unit"},
           {"checkout added > 1%", "\"%\" is not a unit"},
           {"checkout p99 > +20", "is a change in percent, as in +20%"},
           {"checkout p99 > +-20%", "is no number"},
           {"checkout p99 < +20%", "as > +20% or < -20%"},
           {"checkout p99 > -20%", "as > +20% or < -20%"},
           {"checkout p99 == +20%", "as > +20% or < -20%"},
           {"checkout value > +20%", "a change in percent is one of calls"},
           {"checkout min > +20%", "a change in percent is one of calls"},
           {"checkout share > 1%", "a share needs labels"},
           {"checkout{status=5*} share > 1", "a share is in percent"},
           {"checkout{status=5*} share > +1%", "a change in percent is one of calls"},
           {"\"checkout\"x share > 1%", "expected labels, as in {status=5*}"},
           {"checkout max/mean > 1.2", "max/mean needs a label"},
           {"checkout max/mean by > 1.2", "max/mean needs a label"},
           {"checkout p99 > 1ms and more", "\"ms and more\" is not a unit"},
           {"\"checkout p99 > 1ms", "closing quote is missing"},
           {"[v max > 1", "'[v max > 1': \"[v\": ] is missing; write a literal [ as \\["},
           {"\"v\"{i=[a} max > 1", "\"i=[a\": ] is missing"}}) {
    EXPECT_TRUE(has(error_of(Condition::parse(text)), part)) << text;
  }
}

}  // namespace
}  // namespace pcp::trace::command
