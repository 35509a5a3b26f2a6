// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/summary.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/made_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

constexpr Terminal kPlain{false, false, 80};

Run an_hour() {
  Run run;
  run.archives = {"app.trace/trace"};
  run.hosts = {"saturn"};
  run.command = "./app --fast";
  run.begin = WallTime(std::chrono::seconds(1'800'000'000));
  run.end = run.begin + std::chrono::hours(1);
  run.samples = 3601;
  run.interval = std::chrono::seconds(1);
  return run;
}

Tag transaction(const std::string& name) {
  Tag tag = made_transaction(name, 12'345);
  tag.rate = 3.43;
  tag.sum = 16.2;
  tag.mean = 0.00131;
  tag.busy = 0.27;
  tag.max = Extreme{0.0201, true};
  tag.percentiles = {0.0012, 0.003, 0.0034, 0.0088, 0.01};
  tag.percentile_source = PercentileSource::Histogram;
  tag.slowest = SlowestMoment{WallTime(std::chrono::seconds(1'800'000'060)), 0.0201, false, true};
  return tag;
}

std::vector<Tag> numbered(int count) {
  std::vector<Tag> tags;
  for (int i = 0; i < count; ++i) tags.push_back(transaction("checkout" + std::to_string(i)));
  return tags;
}

Tag of_type(TraceType type, const std::string& name, const std::string& unit = "") {
  Tag tag = made_tag(type, name, 5);
  tag.rate = 1;
  tag.unit = unit;
  return tag;
}

std::string shown(const std::vector<Tag>& tags, const Run& run = an_hour()) {
  return summary({run, tags}, "", kPlain);
}

void expect_at_most_25_lines_of_80_columns(const std::vector<std::string>& lines) {
  EXPECT_LE(lines.size(), 25U);
  for (const std::string& line : lines) EXPECT_LE(columns_of(line), 80U) << line;
}

bool has_line(const std::vector<std::string>& lines, const std::string& beginning) {
  return std::ranges::any_of(lines, [&](const auto& line) { return line.starts_with(beginning); });
}

TEST(Summary, ShowsOfATagWhatOneWantsToKnow) {
  const std::vector<std::string> lines =
      lines_of(summary({an_hour(), {transaction("checkout")}}, "app.trace/trace.html", kPlain));
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[0], "./app --fast  on saturn");
  EXPECT_TRUE(has(lines[1], ", 60.0 min, 3601 samples 1.00 s apart"));
  EXPECT_EQ(lines[3],
            "Transactions               calls   total     p50     p95     p99      max   busy");
  EXPECT_EQ(lines[4],
            "checkout                  12,345  16.2 s 1.20 ms 3.40 ms 8.80 ms  20.1 ms   0.27");
  EXPECT_TRUE(begins(lines[6], "slowest  20.1 ms in checkout, at "));
  EXPECT_TRUE(lines[6].ends_with(", 60.0 s from the start")) << lines[6];
  EXPECT_EQ(lines[7], "archive  app.trace/trace");
  EXPECT_EQ(lines[8], "page     app.trace/trace.html");
}

TEST(Summary, SaysFirstThatCallsMayBeMissing) {
  auto run = an_hour();
  run.incomplete = {{"app.trace/trace", "its end is missing"}};
  for (const auto& tags : {std::vector{transaction("checkout")}, {}})
    EXPECT_TRUE(shown(tags, run).starts_with("incomplete: app.trace/trace: its end is missing\n"));
}

TEST(Summary, SaysWhatHadNotEnded) {
  Tag hung = transaction("checkout");
  hung.vanished = 1;
  Tag leaked = transaction("session");
  leaked.vanished = 12;
  const std::string words = "\nopen     not ended with their program: ";
  EXPECT_TRUE(has(shown({hung, leaked}), words + "12 session, 1 checkout\n"));
  EXPECT_TRUE(has(shown({hung}), words + "1 checkout\n"));
  EXPECT_FALSE(has(shown({transaction("ended")}), "not ended"));
  hung.vanished = 1'000'000;
  hung.name = "checkout of a name that is long";
  EXPECT_TRUE(has(shown({hung, hung, hung, hung}), ", and 1 more tag\n"));
  for (const std::string& line : lines_of(shown({hung, hung, hung}))) EXPECT_LE(line.size(), 100U);
}

TEST(Summary, KnowsTheTimeInWhichTheSlowestCallEndedIfNotItsBegin) {
  Tag tag = transaction("checkout");
  const std::string time = Shown::time(WallTime(std::chrono::seconds(1'800'000'060)));
  for (const auto& [within_s, when] : std::vector<std::pair<std::optional<double>, std::string>>{
           {1, "in the second before " + time},
           {60, "in the 60.0 s before " + time},
           {0.1, "in the 100 ms before " + time + ".120"},
           {{}, "before " + time}}) {
    tag.slowest = SlowestMoment{WallTime(std::chrono::milliseconds(1'800'000'060'120)), 0.0201,
                                false, false, within_s};
    EXPECT_TRUE(has(shown({tag}), "\nslowest  20.1 ms in checkout, " + when + "\n"));
  }
  tag.max = Extreme{0.039, false};  // from the distribution, which knows no times
  EXPECT_TRUE(has(shown({tag}), "\nslowest  >20.1 ms in checkout, before "));  // a captured one
  tag.slowest = SlowestMoment{{}, 0.039, false};
  EXPECT_TRUE(has(shown({tag}), "\nslowest  >39.0 ms in checkout\n"));
}

TEST(Summary, SaysOfWhichCallsTimesAre) {
  Tag tag = transaction("checkout");
  tag.failed = 1;
  EXPECT_FALSE(has(shown({tag}), "Times are of"));
  auto run = an_hour();
  run.times_of = Ending::Failed;
  EXPECT_TRUE(has(shown({tag}, run), "\nTimes are of failed calls only.\n"));
  tag.lacks_times = true;
  EXPECT_TRUE(has(shown({tag}),
                  "some failed calls have no duration; --completed shows those of "
                  "completed ones"));
  tag.failed.reset();
  EXPECT_TRUE(has(shown({tag}), "those were not recorded"));
}

TEST(Summary, SaysWhereTheOtherTagsAreAndHowManyHaveFailed) {
  std::vector<Tag> tags = numbered(40);
  EXPECT_TRUE(has(shown(tags), " more tags: --all, or the page (--html FILE)\n"));
  tags[38].failed = tags[39].failed = 2;
  EXPECT_TRUE(has(summary({an_hour(), tags}, "page.html", kPlain),
                  " more tags, 2 of them with failed calls: see the page, or --all\n"));
}

TEST(Summary, ShowsTheUnitOfValues) {
  const auto lines = lines_of(shown(
      {of_type(TraceType::Observe, "queue", "job"), of_type(TraceType::Counter, "sent", "KiB"),
       of_type(TraceType::Observe, std::string(100, 'x'), "\033[31mred and far too long"),
       of_type(TraceType::Point, "point", "none of its own")}));
  for (const char* const beginning : {"queue [job]       ", "sent [KiB]        ",
                                      "point             ", "xxx..xxxxxxxx [\\x1b..ng] "})
    EXPECT_TRUE(has_line(lines, beginning)) << beginning;
  for (const std::string& line : lines) EXPECT_LE(columns_of(line), 80U) << line;
}

TEST(Summary, SaysWhyAValueIsUnknown) {
  Tag tag = transaction("checkout");
  tag.percentiles = {};
  tag.percentile_source = PercentileSource::SeveralHosts;
  tag.max->is_exact = false;
  for (const char* const part : {"       -       -       - >20.1 ms",
                                 "-        percentiles of several hosts", ">        at least this"})
    EXPECT_TRUE(has(shown({tag}), part));
  Tag queue = of_type(TraceType::Observe, "queue", "");
  queue.nonfinite = 5;
  queue.last = std::nan("");
  for (const char* const part :
       {" nan\n", "NaN, inf 5 values are not finite: counted as calls, in no other column\n"})
    EXPECT_TRUE(has(shown({queue}), part)) << shown({queue});
}

TEST(Summary, SaysThatAnAgentsIntervalsLackCallsAtBothEnds) {
  Tag tag = transaction("checkout");
  tag.calls = 4;
  tag.percentile_source = PercentileSource::WholeIntervals;
  tag.distribution.emplace().add(1);
  EXPECT_TRUE(has(shown({tag}),
                  "miss up to 75% of a tag's calls: those of the agent's first and last int"));
  tag.percentile_source = PercentileSource::NearlyAllCalls;
  EXPECT_TRUE(has(shown({tag}), "calls: no recorded distribution has"));
}

TEST(Summary, HasAtMostTwentyFiveLinesOfEightyColumns) {
  std::vector<Tag> tags;
  for (int i = 0; i < 1000; ++i) {
    tags.push_back(transaction(std::to_string(i) +
                               "{x=" + std::string(static_cast<std::size_t>(i % 200), 'x') + "}"));
    tags.back().failed = 1e9;
    tags.back().percentiles = {};
    tags.back().percentile_source = PercentileSource::SeveralWindows;
    tags.back().max->is_exact = false;
    tags.push_back(of_type(TraceType::Observe, "observation \xe2\x82\xac" + std::to_string(i)));
    tags.push_back(of_type(TraceType::Counter, "counter" + std::to_string(i)));
    tags.push_back(of_type(TraceType::Point, "point\n" + std::to_string(i)));
  }
  auto run = an_hour();
  run.command = std::string(300, 'c');
  run.hosts = {"a", std::string(300, 'h')};
  run.archives = std::vector<std::string>(9, std::string(300, 'a'));
  for (const bool is_utf8 : {false, true}) {
    const auto lines = lines_of(summary({run, tags}, std::string(300, 'p'), {is_utf8, false, 80}));
    expect_at_most_25_lines_of_80_columns(lines);
    EXPECT_GE(lines.size(), 22U);
    for (const char* const title : {"Transactions", "Observations", "Points, counters"})
      EXPECT_TRUE(has_line(lines, title)) << title;
  }
}

// The lines of the tables, from the heading on.
std::vector<std::string> table_of(const std::vector<Tag>& tags, const TableChoice& choice = {},
                                  std::size_t columns = 80) {
  auto lines = lines_of(summary({an_hour(), tags}, "", {false, false, columns}, choice));
  lines.erase(lines.begin(), lines.begin() + 3);
  lines.erase(std::ranges::find(lines, ""), lines.end());
  return lines;
}

TableChoice sorted_by(Figure column) {
  TableChoice choice;
  choice.sort = column;
  return choice;
}

TableChoice all_label_sets() {
  TableChoice choice;
  choice.shows_all = true;
  return choice;
}

TEST(Summary, NamesGapsButNotTheTimeBetweenTwoRecordingsOfAProgram) {
  auto run = an_hour();
  run.gaps = {{run.begin, run.end, 0}};
  EXPECT_TRUE(has(shown({}, run), ", 1 gap\n"));
  run.archives.push_back("app2.trace/trace");
  EXPECT_TRUE(has(shown({}, run), ", 3601 samples of 2 archives, 1.00 s apart\n"));
  run.command.clear();
  EXPECT_TRUE(has(shown({}, run), ", 1 gap\n"));
}

TEST(Summary, ShowsMoreColumnsOnAWideTerminal) {
  const auto shows = [](std::size_t columns, const char* name) {
    return has(table_of({transaction("a")}, {}, columns).front().substr(12), name);
  };
  for (const char* const name :
       {"calls", "/s", "total", "mean", "p50", "p95", "p99", "max", "busy"})
    EXPECT_TRUE(shows(96, name));
  EXPECT_FALSE(shows(95, "/s"));
  EXPECT_TRUE(shows(88, "mean"));
  EXPECT_FALSE(shows(87, "mean"));
  EXPECT_TRUE(shows(80, "p50"));
  EXPECT_TRUE(has(table_of({transaction("a")}, sorted_by(Figure::Rate), 40).front(), "/s"));
}

TEST(Summary, FoldsTheLabelSetsOfANameAndShowsTheWorst) {
  Tag good = transaction("request{status=200}");
  Tag bad = transaction("request{status=503}");
  bad.failed = 5;
  bad.calls = 10;
  const auto lines = table_of({good, bad, transaction("lonely{status=200}")});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(begins(lines[1], "request {2 sets}           12,355      5  32.4 s "));
  EXPECT_TRUE(begins(lines[2], "  {status=503}                 10      5  16.2 s "));
  EXPECT_TRUE(begins(lines[3], "lonely{status=200} "));
  bad.failed = 0;
  good.percentiles[kP99] = 1;
  EXPECT_TRUE(table_of({good, bad})[2].starts_with("  {status=200} "));
  good.name = "request";
  EXPECT_TRUE(table_of({good, bad})[2].starts_with("  (no labels) "));
  good.name = "request{status=200}";
  const TableChoice all = all_label_sets();
  EXPECT_TRUE(table_of({good, bad}, all)[1].starts_with("request{status=200} "));
  good.name = "request{route=/user/:id/orders;status=200}";
  const std::vector<std::string> lines_of_all = table_of({good, bad}, all);
  EXPECT_EQ(lines_of_all[1], good.name);  // too long for its column
  EXPECT_TRUE(begins(lines_of_all[2], "                        "));
}

TEST(Summary, LeavesOutWhatTransactionsOnlyBeganAs) {
  Tag begun = transaction("request");
  begun.calls = 0;
  const TableChoice all = all_label_sets();
  const Tag ended = transaction("request{status=200}");
  EXPECT_EQ(table_of({ended, begun}, all).size(), 2U);
  begun.folded = std::make_shared<const Tag>(ended);
  EXPECT_EQ(table_of({ended, begun}, all).size(), 3U);
  begun.folded = {};
  EXPECT_EQ(table_of({begun, transaction("other{status=200}")}, all).size(), 3U);
}

TEST(Summary, ShowsAsManyTagsAsOneAsksForInTheOrderThatOneAsksFor) {
  std::vector<Tag> tags = numbered(100);
  tags[70].max = Extreme{5, true};
  tags[80].max = Extreme{4, true};
  tags[90].max.reset();
  TableChoice choice = sorted_by(*parse_column("max"));
  choice.top = 2;
  auto lines = table_of(tags, choice);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[1].starts_with("checkout70 "));
  EXPECT_TRUE(lines[2].starts_with("checkout80 "));
  EXPECT_EQ(lines[3], "and 98 more tags: --all, or the page (--html FILE)");
  choice.top.reset();
  choice.shows_all = true;
  lines = table_of(tags, choice);
  EXPECT_EQ(lines.size(), 101U);
  EXPECT_TRUE(lines.back().starts_with("checkout90 "));
  EXPECT_FALSE(parse_column("p42"));
}

TEST(Summary, ShowsASmallValueAsSmall) {
  Tag tag = transaction("checkout");
  for (const double small : {1e-7, 0.00989}) {
    tag.busy = small;
    EXPECT_TRUE(table_of({tag})[1].ends_with("20.1 ms  <0.01")) << table_of({tag})[1];
  }
  tag.busy = 0;
  EXPECT_TRUE(table_of({tag})[1].ends_with("20.1 ms      0")) << table_of({tag})[1];
}

TEST(Summary, SaysWhichTotalsAreUneven) {
  Totals totals{an_hour(), {transaction("compute")}};
  totals.imbalances = {
      {TraceType::Transact, "compute", "rank", 8, 0.0874, 0.027, {{"7", 0.166}}, "0"},
      {TraceType::Transact, "routes", "route", 8, 1, 0.9, {{"/", 9}}, "/a"},
      {TraceType::Transact, "even", "rank", 8, 1, 0.9, {{"3", 1.09}}}};
  const std::string text = summary(totals, "", kPlain);
  EXPECT_TRUE(has(
      text, "\nuneven   compute: rank=7 takes 1.90 x the mean of 8 (166 ms; rank=0: 27.0 ms)\n"));
  EXPECT_FALSE(has(text, "even: "));
  EXPECT_FALSE(has(text, "routes: "));
  totals.tags = {transaction("compute{rank=3}"), transaction("compute{rank=7}")};
  totals.tags[0].percentiles[kP99] = 5;
  EXPECT_TRUE(has(summary(totals, "", kPlain), "\n  {rank=7} "));
  TableChoice choice;
  choice.by = {"route"};
  EXPECT_FALSE(has(summary(totals, "", kPlain, choice), "routes: "));
  totals.tags = numbered(100);
  EXPECT_TRUE(has(summary(totals, "", kPlain, choice), "\ncheckout99 "));
  totals.imbalances.assign(50, totals.imbalances[0]);
  totals.imbalances[0].name = std::string(200, 'x');
  totals.imbalances[1].values[0].value = "\033[31m" + std::string(200, 'x');
  expect_at_most_25_lines_of_80_columns(lines_of(summary(totals, "", kPlain)));
}

TEST(Summary, ShowsTheRowsOfUnevenNamesHoweverFewLinesAreLeft) {
  Totals totals{an_hour(), numbered(40)};
  for (int i = 0; i < 3; ++i) {
    const std::string name = "uneven" + std::to_string(i);
    for (const char* const rank : {"{rank=3}", "{rank=7}"})
      totals.tags.push_back(transaction(name + rank));
    totals.imbalances.push_back({TraceType::Transact, name, "rank", 2, 1, 0.5, {{"7", 1.5}}, "3"});
  }
  totals.tags.push_back(of_type(TraceType::Observe, "queue"));
  for (const std::size_t incomplete : {0U, 4U, 9U, 30U}) {
    totals.run.incomplete.assign(incomplete, {"app.trace/trace", "its end is missing"});
    const auto lines = lines_of(summary(totals, "", kPlain));
    EXPECT_LE(lines.size(), 25U);
    for (const char* const name : {"uneven0", "uneven1", "uneven2"})
      EXPECT_TRUE(has_line(lines, name + std::string(" {2 sets} "))) << name;
    EXPECT_EQ(has_line(lines, "Observations "), has_line(lines, "queue "));
  }
}

TEST(Summary, FitsANarrowTerminal) {
  Tag tag = transaction("request{route=/cart/items/1/a,status=200}");
  tag.vanished = 3;
  for (const double failed : {0, 5}) {
    tag.failed = failed;
    for (const std::size_t columns : {40U, 50U, 60U, 70U}) {
      for (const std::string& line : table_of({tag, transaction("b")}, {}, columns))
        EXPECT_LE(columns_of(line), columns) << line;
      const std::string heading = table_of({tag}, {}, columns).front();
      for (const char* const name : {"calls", "total"}) EXPECT_TRUE(has(heading, name));
    }
  }
}

TEST(Summary, SaysHowManyCallsAreFoldedOnAnyTerminal) {
  auto run = an_hour();
  run.folded = {transaction("request")};
  run.folded[0].is_folded = true;
  for (const std::size_t columns : {40U, 80U})
    EXPECT_EQ(incompleteness(run, Shown({false, false, columns})),
              "folded: up to 12,345 calls of request may be of tags or label sets that had no "
              "room\n");
}

TEST(Summary, OfNothingSaysWhatToDo) {
  EXPECT_TRUE(has(shown({}), "Nothing was traced."));
  EXPECT_TRUE(has(shown({}), "PCP_TRACE_DEBUG"));
  TableChoice choice;
  choice.chosen_by = "--where";
  EXPECT_TRUE(has(summary({an_hour(), {}}, "", kPlain, choice), "\nNo tag matches --where.\n"));
}

TEST(Summary, IsPlainTextWithoutColoursWhateverTagsAreCalled) {
  Tag tag = transaction("\033[31m\xff\xe2\x80\xae");
  tag.failed = 1;
  const auto is_plain = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  EXPECT_TRUE(std::ranges::all_of(shown({tag}), is_plain)) << shown({tag});
  EXPECT_TRUE(has(summary({an_hour(), {tag}}, "", {false, true, 80}), "\033[31m"));
}

}  // namespace
}  // namespace pcp::trace::command
