// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/waterfall.hpp"

#include <clocale>
#include <string>

#include <gtest/gtest.h>

#include "span_samples.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

const Shown kPlain(Terminal{false, false, 80});
const Shown kColored(Terminal{false, true, 80});

// Removes the first line, which has the time of day.
std::string below_head(const std::string& text) { return text.substr(text.find('\n') + 1); }

TEST(Waterfall, ShowsHowLongAndWhereAndWhen) {
  SpanEvent pay = span_of("pay", 3, 1, 5, 4);
  pay.service = "bank";
  pay.pid = 12;
  pay.host = "jupiter";
  const std::string text = waterfall(
      trace_of({span_of("checkout", 1, 0, 0, 10), span_of("query", 2, 1, 1, 2), pay}), kPlain);
  EXPECT_TRUE(begins(text, "checkout  10.0 ms  "));
  EXPECT_TRUE(has(text, "  trace 00000000000000000000000000000001\n"));
  EXPECT_EQ(below_head(text),
            "checkout                      shop 11@saturn        10.0 ms ====================\n"
            "  query                                             2.00 ms   ====\n"
            "  pay                         bank 12@jupiter       4.00 ms           ========\n");
}

TEST(Waterfall, NamesTheTransactionThatWasSlowUnlessItIsTheFirst) {
  SpanTrace trace = trace_of({span_of("checkout", 1, 0, 0, 10), span_of("query", 2, 1, 1, 2)});
  trace.slow_span = 2;
  EXPECT_TRUE(begins(below_head(waterfall(trace, kPlain)), "  slow: query  2.00 ms  in shop 11\n"));
  for (const std::uint64_t none : {0U, 1U}) {
    trace.slow_span = none;
    EXPECT_FALSE(has(waterfall(trace, kPlain), "slow"));
  }
}

TEST(Waterfall, NamesTheHostAtTheTopIfThereIsOneOnly) {
  const std::string text = waterfall(trace_of({span_of("checkout", 1, 0)}), kPlain);
  EXPECT_TRUE(has(text, "  saturn  trace 0"));
  EXPECT_FALSE(has(text, "@"));
}

TEST(Waterfall, RatherNamesTheTagThanTheIdOfTheTrace) {
  SpanEvent span = span_of("GET /api/orders", 1, 0, 0, 10);
  span.host = "ceres.example.org";
  const std::string text = waterfall(trace_of({span}), kPlain);
  EXPECT_TRUE(begins(text, "GET /api/orders  10.0 ms  "));
  EXPECT_FALSE(has(text, "trace 0"));
  const std::string wide = waterfall(trace_of({span}), Shown(Terminal{false, false, 92}));
  EXPECT_TRUE(begins(wide, "GET /api/orders  "));
  EXPECT_TRUE(has(wide, "  trace 0"));
}

TEST(Waterfall, SaysWhyATransactionFailedAndWhatWasNoted) {
  SpanEvent span = span_of("checkout", 1, 0, 0, 10);
  span.aborted = true;
  span.reason = "the bank is away";
  span.attributes = "route=/cart rows=12";
  span.links = "00000000000000010000000000000002-0000000000000003";
  span.left_out = 2;
  EXPECT_EQ(below_head(waterfall(trace_of({span}), kPlain)),
            "checkout                      shop 11               10.0 ms ====================\n"
            "  aborted: the bank is away\n"
            "  route=/cart rows=12\n"
            "  see also 00000000000000010000000000000002-0000000000000003\n"
            "  2 notes are missing\n");
  const std::string colored = waterfall(trace_of({span}), kColored);
  EXPECT_TRUE(has(colored, "\033[31mcheckout\033[0m"));
  EXPECT_TRUE(has(colored, "\033[31m  aborted: the bank is away\033[0m"));
}

TEST(Waterfall, BeginsWithWhatWasOpenWhenItsProcessDied) {
  SpanEvent query = span_of("query", 2, 1, 5, 5);
  query.flags = wire::kWasOpen;
  query.left_out = 1;
  SpanTrace trace = trace_of({span_of("checkout", 1, 0, 0, 10), query});
  EXPECT_EQ(below_head(waterfall(trace, kPlain)),
            "  died: query was open for 5.00 ms in shop (pid 11)\n"
            "checkout                      shop 11               10.0 ms ====================\n"
            "  query                                            >5.00 ms           =========>\n"
            "    open when its process died\n"
            "    its notes are missing: they were lost with the process\n");
  trace.spans[0].flags = wire::kWasOpen;
  EXPECT_TRUE(begins(below_head(waterfall(trace, kPlain)),
                     "  died: checkout was open for 10.0 ms in shop (pid 11), at last in query for "
                     "5.00 ms\n"));
}

TEST(Waterfall, OfAReportBeginsWithTheRequestsThatWereOpenForLongest) {
  RecordedSpans spans;
  EXPECT_EQ(died_lines(spans, {"a.trace"}, kPlain), "");
  const SpanEvent b = span_of("b", 2, 0);
  spans.died = {
      3,
      {{span_of("checkout{route=/cart}\033[2J", 1, 0, 0, 3200), span_of("query", 3, 1)}, {b, b}}};
  EXPECT_EQ(died_lines(spans, {"a.trace", "b.trace"}, kPlain),
            "checkout{route=/cart}\\x1b[2J was open for 3.20 s in shop (pid 11), at last in query "
            "for 1.00 ms, when the process died\n"
            "b was open for 1.00 ms in shop (pid 11) when the process died\n"
            "and 1 more; whole requests: pcp-trace spans -a a.trace -a b.trace died\n\n");
}

TEST(Waterfall, MarksWhatItsProgramWants) {
  SpanEvent span = span_of("checkout", 1, 0, 0, 10);
  span.flags = wire::kIsWanted;
  span.attributes = "unwanted=1";
  EXPECT_TRUE(has(waterfall(trace_of({span}), kPlain), "\n  wanted\n  unwanted=1\n"));
  span.attributes = "wanted=VIP";
  EXPECT_FALSE(has(waterfall(trace_of({span}), kPlain), "  wanted\n"));
}

TEST(Waterfall, ShowsEventsWhereTheyHappened) {
  SpanEvent rows = point_of("rows", 1, 8);
  rows.kind = wire::SpanKind::Observe;
  rows.value = 17;
  SpanEvent bytes = point_of("bytes", 1, 9);
  bytes.kind = wire::SpanKind::Add;
  bytes.value = 4096;
  EXPECT_EQ(
      below_head(waterfall(
          trace_of({span_of("a", 1, 0, 0, 10), point_of("miss", 1, 5), rows, bytes}), kPlain)),
      "a                             shop 11               10.0 ms ====================\n"
      "  * miss                                                              *\n"
      "  * rows = 17                                                               *\n"
      "  * bytes + 4,096                                                             *\n");
}

TEST(Waterfall, SaysWhatItLacks) {
  EXPECT_TRUE(has(waterfall(trace_of({span_of("child", 2, 1)}), kPlain),
                  "\n  1 parent has not come: still open, traced elsewhere, or not captured\n"));
  SpanTrace late = trace_of({span_of("child", 2, 1)});
  late.is_late = true;
  late.spans_left_out = 5;
  const std::string text = waterfall(late, kPlain);
  EXPECT_TRUE(has(text, "\n  late: it belongs to a trace that was shown before\n"));
  EXPECT_TRUE(has(text, "\n  5 more spans left out: the limit is reached\n"));
}

TEST(Waterfall, MarksWhatWasNotCaptured) {
  SpanEvent pay = span_of("pay", 3, 2, 5, 4);
  pay.attributes = "rows=12";
  SpanTrace trace = trace_of({span_of("request", 1, 0, 0, 10), pay});
  trace.torn = {{3, "order_worker"}};
  EXPECT_EQ(below_head(waterfall(trace, kPlain)),
            "request                       shop 11               10.0 ms ====================\n"
            "pay                           shop 11               4.00 ms           ========\n"
            "  its part in order_worker was not captured\n"
            "  rows=12\n");
  trace.torn = {{3, ""}};
  trace.lacks_part_in = {{3, "bank"}};
  EXPECT_TRUE(has(waterfall(trace, kPlain),
                  "\n  what called it was not captured\n"
                  "  no part in bank has come, as in other traces\n"));
}

TEST(Waterfall, OfTheSlowestTakesTwentyLinesAtMost) {
  RecordedSpans spans;
  EXPECT_EQ(slowest_trees(spans, kPlain, ""), "");
  std::vector<SpanEvent> many{span_of("root", 1, 0)};
  for (std::uint64_t i = 2; i <= 101; ++i) {
    many.push_back(span_of("step", i, 1));
    many.back().attributes = "rows=12";
    many.back().left_out = 1;
  }
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int trees = 1; trees <= 3; ++trees) {
    spans.slowest.push_back(trace_of(many));
    const std::string text = slowest_trees(spans, kPlain, "");
    EXPECT_LE(lines(text), 20);
    EXPECT_GE(lines(text), 15);
    EXPECT_TRUE(begins(text, "\nroot "));
    EXPECT_TRUE(text.ends_with("\n\n")) << text;
    EXPECT_TRUE(has(text, " more span"));
  }
}

TEST(Waterfall, OfTheSlowestTwoIsOneIfBothCannotBeWhole) {
  for (const std::uint64_t depth : {7U, 8U}) {
    std::vector<SpanEvent> chain;
    for (std::uint64_t i = 1; i <= depth; ++i) chain.push_back(span_of("step", i, i - 1));
    RecordedSpans spans;
    spans.slowest = {trace_of(chain), trace_of(chain)};
    spans.traces = 2;
    const std::string text = slowest_trees(spans, kPlain, "more");
    EXPECT_FALSE(has(text, " more span"));
    EXPECT_EQ(text.ends_with("\n\nmore"), depth == 8) << text;
  }
}

TEST(Waterfall, OfManySpansIsCut) {
  std::vector<SpanEvent> spans{span_of("root", 1, 0)};
  for (std::uint64_t i = 2; i <= 1001; ++i) spans.push_back(span_of("a", i, 1));
  const std::string text = waterfall(trace_of(spans), kPlain);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 202);
  EXPECT_TRUE(has(text, "\n  and 801 more spans, which --json has\n"));
}

// The call of the bank was given up.
TEST(Waterfall, KeepsWhatALongSpanIsInside) {
  const SpanTrace trace = trace_of({span_of("request", 1, 0, 0, 10), span_of("sql", 2, 1, 0, 5),
                                    span_of("call", 3, 1, 1, 2), span_of("pay", 4, 3, 2, 30)});
  const std::string text = waterfall(trace, kPlain, 3);
  EXPECT_TRUE(has(text, "\n  call"));
  EXPECT_TRUE(has(text, "\n    pay"));
  EXPECT_TRUE(begins(text, "request  10.0 ms"));
}

// A program may say anything, and its clock may be wrong.
TEST(Waterfall, FitsItsColumnsAndHarmsNoTerminal) {
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  for (const std::size_t columns : {40u, 59u, 60u, 79u, 80u, 120u}) {
    const Shown shown(Terminal{true, false, columns});
    std::vector<SpanEvent> spans;
    for (std::uint64_t i = 1; i <= 50; ++i) {
      SpanEvent span = span_of("tag\033[2J\xff" + std::string(300, 'x'), i, i - 1, 100 - i, i * 10);
      span.service = "\033]0;" + std::string(100, 'y');
      span.pid = static_cast<std::uint32_t>(i);
      span.aborted = i % 2 == 0;
      span.reason.assign(1000, '\n');
      span.attributes = "a=\033[31m" + std::string(500, 'z');
      spans.push_back(span);
      SpanEvent& loss = spans.emplace_back(point_of("loss", i, 100 - i));
      loss.kind = wire::SpanKind::Observe;
      loss.value = -1.5e-300;
    }
    const std::string text = waterfall(trace_of(spans), shown);
    EXPECT_TRUE(has(text, " = -1.5e-300"));
    EXPECT_FALSE(has(text, "\033"));
    for (const std::string& line : lines_of(text)) EXPECT_LE(columns_of(line), columns) << line;
  }
}

TEST(Waterfall, HasLessWhereThereIsLessRoom) {
  const SpanTrace trace = trace_of({span_of("checkout", 1, 0, 0, 10)});
  const std::string narrow = waterfall(trace, Shown(Terminal{false, false, 79}));
  EXPECT_FALSE(has(narrow, "trace 0"));
  EXPECT_FALSE(has(narrow, "shop"));
  EXPECT_TRUE(has(narrow, " 10.0 ms ==="));
  EXPECT_TRUE(waterfall(trace, Shown(Terminal{false, false, 40})).ends_with(" 10.0 ms\n"));
}

TEST(Waterfall, HasBarsOfEqualTimesEquallyLong) {
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  std::vector<SpanEvent> spans{span_of("root", 1, 0, 0, 1000)};
  for (std::uint64_t i = 0; i < 40; ++i) spans.push_back(span_of("a", i + 2, 1, i * 7, 30));
  const std::string text = waterfall(trace_of(spans), Shown(Terminal{true, false, 80}));
  std::size_t bars = 0;  // of 30 ms, 5 eighths of a column
  for (std::size_t at = 0; (at = text.find("▋\n", at)) != text.npos; ++at) ++bars;
  EXPECT_EQ(bars, 40U) << text;
}

TEST(Waterfall, CutsNotesAtTheirEndAndNoEscape) {
  SpanEvent span = span_of("a", 1, 0);
  span.attributes = "sql=x" + std::string(65, 'y') + "\\x0a\\x0a\\x0a\\x0a\\x0a";
  for (std::size_t columns = 66; columns < 90; ++columns) {
    const std::string line =
        lines_of(waterfall(trace_of({span}), Shown(Terminal{false, false, columns}))).back();
    EXPECT_LE(line.size(), columns);
    EXPECT_FALSE(has(line, "\\.."));
    EXPECT_TRUE(begins(line, "  sql=\"xyyy"));
  }
}

TEST(Waterfall, OfAnEventAloneIsALine) {
  SpanTrace trace;
  SpanEvent point = point_of("hit", 0, 1);
  point.trace = {};
  trace.spans = {point};
  const std::string text = waterfall(trace, kPlain);
  EXPECT_FALSE(has(text, "trace"));
  EXPECT_EQ(below_head(text), "* hit                         shop 11                       *\n");
}

TEST(SpanSummary, CountsWhatWasCapturedAndWhatWasMissed) {
  const Shown shown(Terminal{});
  EXPECT_EQ(span_counts({1, 1, 0, {}}, shown), "captured 1 trace, 1 span\n");
  EXPECT_EQ(span_counts({1234, 5678, 17, {}}, shown),
            "captured 1,234 traces, 5,678 spans; 17 spans missed\n");
  EXPECT_EQ(span_counts({0, 0, 0, {}}, shown), "captured no traces\n");
  RecordedSpans spans{2, 3, 0, {}};
  spans.has_gap = true;
  EXPECT_EQ(span_counts(spans, shown), "captured 2 traces, 3 spans; an unknown number missed\n");
  spans.missed = 4;
  EXPECT_EQ(span_counts(spans, shown),
            "captured 2 traces, 3 spans; 4 spans and an unknown number missed\n");
}

TEST(SpanSummary, ShowsThreeTreesOfFifteenSpans) {
  RecordedSpans spans{9, 99, 0, {}};
  for (std::uint64_t tree = 1; tree <= 4; ++tree) {
    SpanTrace& trace = spans.slowest.emplace_back(
        trace_of({span_of("request" + std::to_string(tree), 1, 0, 0, 100)}, tree));
    for (std::uint64_t child = 2; child <= 20; ++child)
      trace.spans.push_back(span_of("part", child, 1, child));
  }
  const std::string text = span_summary(spans, {"a.trace", "b.trace"}, Shown(Terminal{}));
  EXPECT_TRUE(begins(text, "captured 9 traces, 99 spans\n\nrequest1 "));
  EXPECT_TRUE(has(text, "\nrequest3 "));
  EXPECT_FALSE(has(text, "request4"));
  EXPECT_TRUE(has(text, "  and 5 more spans, which --json has\n"));
  EXPECT_TRUE(text.ends_with("\n\nall traces: pcp-trace spans -a a.trace -a b.trace\n"));
}

}  // namespace
}  // namespace pcp::trace::command
