// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/condition.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "command/run/groups.hpp"
#include "support/error_of.hpp"
#include "unit/command/conditions.hpp"
#include "unit/command/made_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

Tag checkout(const std::string& name = "checkout") {
  Tag tag = made_transaction(name, 1000);
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

Tag queue() {
  Tag tag = made_tag(TraceType::Observe, "queue", 10);
  tag.nonfinite = 0;
  tag.percentiles[kP99] = 17;
  return tag;
}

// The percentiles are of so many equal values then.
void distribute(Tag& tag, int count, double value) {
  tag.percentile_source = PercentileSource::Histogram;
  if (!tag.distribution) tag.distribution.emplace();
  for (int i = 0; i < count; ++i) tag.distribution->add(value);
}

void expect_of(const std::vector<Tag>& tags, const Findings& expected) {
  expect({Totals{{}, tags}, true, nullptr}, expected);
}

// The conditions lack their tag, which is any.
void expect_of(const Tag& tag, Findings expected, bool is_complete = true) {
  for (auto& [finding, conditions] : expected)
    for (std::string& condition : conditions) condition.insert(0, "* ");
  expect({Totals{{}, {tag}}, is_complete, nullptr}, expected);
}

std::vector<std::string> findings(const std::string& condition, const std::vector<Tag>& tags) {
  return command::findings(condition, {Totals{{}, tags}, true, nullptr});
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
  expect_of(std::vector{checkout()},
            {{"true",
              {"checkout p99 > 50ms",       "checkout p99>50ms",        "checkout p99 >= 0.05 s",
               "checkout p50 < 11ms",       "checkout mean == 20ms",    "checkout p999 != 90ms",
               "checkout p95 <= 41000us",   "checkout calls > 999",     "checkout completed > 899",
               "checkout rate < 91",        "checkout failed == 100",   "checkout vanished == 2",
               "checkout failed% >= 10",    "checkout failed > 9.9%",   "checkout mean > 19ms",
               "checkout max > 499ms",      "ch*t p99 > 50ms",          "\"checkout\" p99 > 5e7ns",
               "checkout mean == 20000us",  "checkout mean == 20000µs", "checkout max > 0.008min",
               "\tcheckout\tmax > 499ms \t"}},
             {"passed",
              {"checkout p99 > 62ms", "checkout p99 < 58ms", "checkout calls != 1000",
               "checkout completed > 900", "checkout vanished > 2", "checkout failed% > 10",
               "checkout max >= 1s", "checkout mean == 21ms", "checkout max > 0.009min"}}});
}

// Exact values, on both sides of the border.
TEST(Condition, IsTrueFromTheBorderOn) {
  Tag few = checkout("few");
  few.calls = 100;
  few.failed = 29;
  Tag bytes = made_tag(TraceType::Counter, "bytes", 3);
  bytes.counted = 4096;
  bytes.last = 5000;
  Tag seen = queue();
  seen.last = 7;
  seen.sum = 42;
  seen.min = Extreme{-3, true};
  const std::vector<Tag> tags{checkout(), few, bytes, seen};
  struct Border {
    std::string what, at, less;
  };
  for (const auto& [what, at, less] :
       {Border{"checkout total", "18s", "17.999s"}, Border{"checkout min", "2ms", "1.999ms"},
        Border{"checkout calls", "1000", "999"}, Border{"checkout failed%", "10", "9.999"},
        Border{"few failed%", "29", "28.999"}, Border{"bytes added", "4096", "4095"},
        Border{"bytes value", "5000", "4999"}, Border{"queue value", "7", "6.999"},
        Border{"queue total", "42", "41.9"}, Border{"queue min", "-3", "-3.001"}})
    expect_of(tags, {{"true", {what + " >= " + at, what + " == " + at, what + " > " + less}},
                     {"passed", {what + " > " + at, what + " <= " + less}}});
}

TEST(Condition, AboutAdditionsIsUnknownForACounterThatIsOnlySet) {
  Tag depth = made_tag(TraceType::Counter, "depth", 3);
  depth.counted = 0;
  expect_of(depth,
            {{"unknown: depth has no additions, or only those of 0; for values that were set "
              "there is 'value'",
              {"added > 10"}}});
  depth.calls = 0;  // a counter that nothing has reached is known: nothing was added
  expect_of(depth, {{"passed", {"added > 10"}}});
}

TEST(Condition, OfTheSeventyFifthPercentileNeedsADistribution) {
  Tag tag = checkout();
  expect_of(tag, {{"unknown: checkout has no p75 in this recording", {"p75 > 1s"}}});
  distribute(tag, 745, 0.010);
  distribute(tag, 255, 0.020);
  expect_of(tag,
            {{"true", {"p75 > 19ms"}}, {"unknown", {"p75 > 20ms"}}, {"passed", {"p75 > 21ms"}}});
  tag.percentile_source = PercentileSource::OneValue;
  tag.distribution.reset();
  tag.min = tag.max = Extreme{0.020, true};
  expect_of(tag, {{"passed", {"p75 > 20ms"}}, {"true", {"p75 >= 20ms"}}});
}

TEST(Condition, OfAMinimumThatMayBeLessIsKnownAsFarAsItIs) {
  Tag tag = checkout();
  tag.min = Extreme{0.002, false};
  expect_of(tag, {{"true", {"min < 3ms"}},
                  {"unknown", {"min < 1ms"}},
                  {"unknown: checkout has at most 2.00 ms", {"min > 1ms"}},
                  {"passed", {"min > 2ms"}}});
}

TEST(Condition, SaysWhichTagBrokeItAndWithWhat) {
  expect_of(checkout(), {{"true: checkout has 58.8 ms to 61.2 ms", {"p99 > 50ms"}},
                         {"true: checkout has 20.0 ms", {"mean > 5ms"}},
                         {"true: checkout has 10%", {"failed > 9%"}}});
  expect_of(checkout("red\x1b[31m"), {{"true: red\\x1b[31m has 1,000", {"calls > 9"}}});
}

TEST(Condition, InQuotesATagIsTakenAsItIs) {
  expect_of(std::vector{checkout("my * tag")}, {{"true", {"\"my * tag\" calls > 1"}}});
  expect_of(std::vector{checkout("my own tag")}, {{"unknown", {"\"my * tag\" calls > 1"}}});
  expect_of(std::vector{checkout(R"(say "hi" \)")}, {{"true", {R"("say \"hi\" \\" calls > 1)"}}});
}

TEST(Condition, OfNoTagIsUnknown) {
  expect_of(std::vector{checkout()},
            {{"unknown: no tag matches", {"chekcout p99 > 50ms"}},
             {"unknown: no tag matches; some begin so: check*", {"check p99 > 50ms"}}});
  expect_of(std::vector{checkout("check{a=b}")},
            {{"unknown: no tag matches; check* matches each label set; --by name adds them up",
              {"check p99 > 50ms"}},
             {"unknown: no label set matches; a share, as in share > 0%, is 0% then",
              {"check{a=c} calls > 0"}}});
  expect_of(std::vector<Tag>(), {{"unknown", {"* p99 > 50ms"}}});
}

TEST(Condition, OfAnUnknownValueIsUnknown) {
  Tag tag = checkout();
  tag.percentiles = {};
  for (const auto& [source, why] : std::vector<std::pair<PercentileSource, std::string>>{
           {PercentileSource::SeveralWindows,
            "percentiles of single windows only, and no histogram"},
           {PercentileSource::SeveralHosts, "percentiles of single hosts only, and no histogram"},
           {PercentileSource::IncompleteHistogram, "a histogram that lacks some calls"},
           {PercentileSource::NotRecorded, "no percentiles in this recording"}}) {
    tag.percentile_source = source;
    expect_of(tag, {{"unknown: checkout has " + why, {"p99 > 1s"}}});
  }
  tag.max.reset();
  expect_of(tag, {{"unknown: checkout has no such value in this recording", {"max > 1s"}}});
  tag.failed.reset();
  expect_of(tag, {{"unknown", {"failed > 0", "failed% > 0"}}});
}

TEST(Condition, OfAMaximumThatMayBeGreaterIsKnownAsFarAsItIs) {
  Tag tag = checkout();
  tag.max->is_exact = false;
  expect_of(tag, {{"true", {"max > 499ms", "max >= 500ms"}},
                  {"unknown",
                   {"max > 501ms", "max < 501ms", "max >= 501ms", "max <= 501ms", "max == 501ms"}},
                  {"passed", {"max < 499ms", "max <= 499ms"}}});
  // But a histogram of all calls has none beyond it.
  distribute(tag, 1, 0.5);
  expect_of(tag, {{"passed", {"max > 520ms"}}, {"true", {"max > 499ms"}}});
  tag.nonfinite = 1;
  expect_of(tag, {{"unknown", {"max > 520ms", "max != 501ms"}},
                  {"unknown: checkout has at least 500 ms", {"max > 501ms"}},
                  {"passed", {"max == 499ms"}},
                  {"true", {"max != 499ms"}}});
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
  expect_of(failing(),
            {{"true",
              {"max > 1s", "failed mean == 2s", "failed p99 > 1.9s", "total > 217s",
               "completed total == 18s", "completed > 899"}},
             {"true: checkout has 2.00 s", {"failed max > 1s"}},
             {"unknown", {"p99 > 1s"}},
             {"passed", {"completed max > 1s", "completed p99 > 62ms", "failed min < 1s"}}});
  Tag none = checkout();
  none.failed = 0;
  expect_of(none, {{"passed: checkout has no failed calls", {"failed max > 1s"}}});
}

TEST(Condition, IsUnknownIfFailedCallsMayDecideIt) {
  Tag tag = failing();
  tag.lacks_times = true;
  tag.max->is_exact = false;
  tag.sum.reset();
  expect_of(tag,
            {{"true", {"max > 1s"}},
             {"unknown", {"max > 3s"}},
             {"unknown: checkout has failed calls without a duration; --completed leaves them out",
              {"total > 1s"}},
             {"passed", {"completed max > 1s"}}});
  Tag stock = checkout();  // PCP's own agent does not count them
  stock.failed.reset();
  expect_of(stock,
            {{"true", {"max > 400ms", "calls > 999", "completed mean > 19ms"}},
             {"unknown", {"max > 1s", "p99 > 1s", "calls > 1000"}},
             {"unknown: checkout has failed calls that were not recorded", {"failed max > 1s"}},
             {"passed", {"completed max > 1s", "completed > 1000"}}});
  // Calls without labels may be of it, and may have failed.
  Tag none = checkout();
  none.failed = 0;
  none.folded = std::make_shared<const Tag>(failing());
  expect_of(none, {{"unknown", {"failed max > 1s", "failed > 99", "max > 1s"}},
                   {"passed", {"failed > 100", "completed max > 1s"}}});
  Tag unknown = failing();
  unknown.failed.reset();
  none.folded = std::make_shared<const Tag>(unknown);
  expect_of(none, {{"unknown", {"calls > 5000", "max > 3s"}}});
}

// A condition passes only if the value is further from the limit than its error.
TEST(Condition, WithinTheErrorOfAPercentileIsUnknown) {
  expect_of(checkout(), {{"unknown: checkout has 58.8 ms to 61.2 ms, as a percentile may be 2% off",
                          {"p99 > 59ms", "p99 > 60.5ms"}}});
  Tag tag = checkout();  // a distribution gives the value's bin
  distribute(tag, 1000, 0.060);
  expect_of(
      tag,
      {{"unknown", {"p99 > 60.1ms"}}, {"true", {"p99 > 59.5ms"}}, {"passed", {"p99 > 60.6ms"}}});
  tag.min = tag.max = Extreme{0.060, true};
  expect_of(tag, {{"true", {"p99 > 59.9ms", "p99 == 60ms"}}, {"passed", {"p99 > 60ms"}}});
}

TEST(Condition, WhereCallsMayBeMissingOnlyWhatGrowsIsKnownToBreak) {
  expect_of(checkout(),
            {{"true: checkout has at least 1,000", {"calls > 999"}},
             {"unknown: checkout has at least 1,000", {"calls > 1000", "calls != 1000"}},
             {"passed: checkout has at least 1,000", {"calls < 1000"}},
             {"true: checkout has at least 900", {"completed > 899"}},
             {"true: checkout has at least 100", {"failed > 5"}},
             {"true: checkout has at least 500 ms", {"max > 400ms"}},
             {"unknown: checkout has at least 500 ms", {"max > 1s"}},
             {"true: checkout has at least 18.0 s", {"total > 17s"}},
             {"unknown: checkout has at least 18.0 s", {"total > 19s"}},
             {"true: checkout has at most 2.00 ms", {"min < 3ms"}},
             {"unknown: checkout has at most 2.00 ms", {"min < 1ms"}},
             {"unknown: checkout has calls that may be missing",
              {"vanished > 1", "mean > 1ms", "rate > 1", "failed > 1%", "p99 > 1ms"}}},
            false);
}

// Ten of a thousand values are missing. Small and great ones would give different percentiles.
TEST(Condition, OfAPercentileThatLacksCallsIsKnownAsFarAsItIs) {
  Tag tag = checkout();
  distribute(tag, 945, 0.01);
  distribute(tag, 45, 1);
  tag.percentile_source = PercentileSource::NearlyAllCalls;
  tag.percentiles[kP95] = 0.01;
  tag.percentiles[kP999] = 1;
  tag.max = Extreme{2, true};
  expect_of(tag, {{"true", {"p95 > 5ms", "p999 > 950ms"}},
                  {"unknown", {"p95 > 500ms", "p999 > 1500ms"}},
                  {"passed", {"p95 > 1100ms", "p999 > 2100ms"}}});
  tag.max->is_exact = false;
  expect_of(tag, {{"unknown", {"p999 > 2100ms"}}});
  // Some of the 990 values are from another time, perhaps small ones.
  for (const auto& [outside, expected] : {std::pair(10.0, "passed"), {100.0, "unknown"}}) {
    tag.outside = outside;
    tag.calls = 990 - outside;
    expect_of(tag, {{expected, {"p95 > 500ms"}}});
  }
}

// An infinite value may be the greatest one.
TEST(Condition, OfAPercentileOfFiniteValuesIsKnownWhereverTheOthersLie) {
  Tag tag = queue();
  tag.calls = 1000;
  tag.nonfinite = 1;
  distribute(tag, 999, 17);
  tag.percentiles[kP999] = 17;
  expect_of(tag, {{"passed", {"p99 > 18", "p999 > 18"}}});
  tag.nonfinite = 20;
  tag.calls = 1019;
  expect_of(tag, {{"unknown", {"p99 > 18"}}, {"true", {"p99 > 16"}}});
}

TEST(Condition, OfAMeanOfValuesThatAreNotAllFiniteIsUnknown) {
  Tag tag = queue();
  tag.mean = 17;
  expect_of(tag, {{"passed", {"mean > 1e9"}}});
  tag.nonfinite = 1;
  expect_of(tag, {{"unknown: queue has values that are not finite", {"mean > 1e9"}}});
  tag.nonfinite.reset();
  expect_of(tag, {{"unknown: queue has values that may not be finite: the archive has no "
                   "trace.observe.nonfinite",
                   {"mean > 1e9"}}});
}

// Half of the values may be infinite, and less than the others.
TEST(Condition, OfALowPercentileIsUnknownWhereOtherValuesMayBeLess) {
  Tag tag = queue();
  tag.calls = 2;
  tag.nonfinite = 1;
  distribute(tag, 1, 5);
  tag.percentiles[0] = 5;
  tag.min = Extreme{5, false};
  expect_of(tag, {{"unknown: queue has at most 5.12", {"p50 > 1"}}});
}

TEST(Condition, WithATimeIsOfTransactionsWithoutOfObservations) {
  expect_of(std::vector{checkout(), queue()},
            {{"true", {"* p99 > 10ms", "* p99 > 16"}},
             {"unknown: no observation matches; for a transaction give a unit: ns, us, ms, s, min",
              {"checkout p99 > 50"}},
             {"unknown: no transaction matches", {"queue failed > 0"}},
             {"unknown: no counter matches", {"queue added > 0"}},
             {"unknown: no observation or counter matches", {"checkout value > 0"}}});
}

TEST(Condition, ThatIsUnknownForManyTagsForOneReasonHasOneLineInShort) {
  Totals run;
  for (const char* const name : {"a", "b", "c\n", "d", "e"}) {
    run.tags.push_back(checkout(name));
    run.tags.back().failed.reset();
  }
  auto found = Condition::parse("* failed > 0")->check({run, true, nullptr});
  for (const auto& each : Condition::parse("* max > 499ms")->check({run, true, nullptr}))
    found.push_back(each);
  const auto lines = in_short(found);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].line,
            "unknown: * failed > 0: a, b, c\\x0a and 2 more tags each have no such value in this "
            "recording");
  found.resize(3);
  EXPECT_EQ(in_short(found).size(), 3U);
  const Condition::Finding of_no_tag{Condition::Outcome::Unknown, "unknown: an archive",
                                     "the recording"};
  EXPECT_EQ(in_short({5, of_no_tag}).size(), 5U);
}

TEST(Condition, ThatAllTagsPassHasTheNearestInShort) {
  Totals run;
  for (const double calls : {7, 400, 300}) {
    run.tags.push_back(checkout("of" + std::to_string(static_cast<int>(calls))));
    run.tags.back().calls = calls;
  }
  const auto line = [&](const std::string& condition) {
    const auto lines = in_short(Condition::parse(condition)->check({run, true, nullptr}));
    return lines.size() == 1 ? lines[0].line : "";
  };
  EXPECT_EQ(line("* calls > 400"),
            "passed: * calls > 400: of400 has 400; 2 more tags are not nearer to the limit");
  EXPECT_EQ(line("* calls < 6"),
            "passed: * calls < 6: of7 has 7; 2 more tags are not nearer to the limit");
  EXPECT_EQ(line("* calls > 300"), "true: * calls > 300: of400 has 400");
}

TEST(Condition, SharesOfNothingAreUnknown) {
  Tag tag = checkout();
  tag.calls = 0;
  tag.failed = 0;
  expect_of(tag, {{"unknown: checkout has no calls", {"failed% > 0"}}});
}

TEST(Condition, OfATagWhoseTransactionsMayHaveEndedWithMoreLabelsSaysHowToAddThemUp) {
  Tag begun = made_transaction("request{route=/a}", 0);
  begun.percentile_source = PercentileSource::NoCalls;
  const Tag ended = checkout("request{route=/a;status=200}");
  const std::string unknown = "unknown: request{route=/a} has no calls";
  const auto found = findings("* p99 > 1s", {begun, ended});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], unknown + "; --by route adds those that ended with more labels");
  EXPECT_TRUE(found[1].starts_with("passed: "));
  // Nothing else tells of these.
  EXPECT_EQ(findings("* p99 > 1s", {begun, checkout("request{route=/b;status=200}")})[0], unknown);
  EXPECT_EQ(findings("* p99 > 1s", {begun, named(begun, ended.name)})[0], unknown);
  // A number of calls is known, and judged.
  EXPECT_TRUE(findings("* calls < 1", {begun, ended})[0].starts_with("true: "));
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
