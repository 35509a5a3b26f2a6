// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/trace_filter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/span_samples.hpp"

namespace pcp::trace::command {
namespace {

// request (9 ms) with query (2 ms) and pay (3 ms, failed) with retry; then audit, beside it.
SpanTrace order() {
  SpanTrace trace = trace_of({span_of("request", 1, 0, 0, 9), span_of("query", 2, 1, 1, 2),
                              span_of("pay{card=a}", 3, 1, 4, 3), span_of("retry", 4, 3, 5, 1),
                              span_of("audit", 5, 0, 20, 1), point_of("miss", 1, 2)});
  trace.spans[0].attributes = "item=2307 rows=12.5";
  trace.spans[3].attributes = "why=late says=a\\x20b";
  trace.spans[2].aborted = true;
  trace.spans[3].flags = wire::kWasOpen;
  return trace;
}

bool matches(const std::vector<std::string>& own, const std::string& captured = "") {
  std::vector<std::string> words = own;
  TraceFilter filter;
  EXPECT_TRUE(filter.take_from(words));
  EXPECT_TRUE(words.empty());
  if (!captured.empty()) filter.captured = *wire::parse_capture_filter(captured);
  return filter.matches(order());
}

TEST(TraceFilter, TakesWhatFailsOrHasNotesInsideATransactionThatMatches) {
  for (const char* const tag : {"request", "pay", "pay{card=*}"})
    EXPECT_TRUE(matches({"failed"}, std::string("tag=") + tag)) << tag;
  for (const char* const tag : {"query", "retry", "audit", "nosuch"})
    EXPECT_FALSE(matches({"failed"}, std::string("tag=") + tag)) << tag;
  EXPECT_TRUE(matches({"note.item=23*", "note.why=late", "failed"}));
  EXPECT_FALSE(matches({"note.item=23*", "note.why=early"}));
  EXPECT_TRUE(matches({"note.rows=12.5"}));
  EXPECT_FALSE(matches({"note.item=23*"}, "tag=pay"));  // it is the request's
  EXPECT_FALSE(matches({"note.why=late"}, "tag=query"));
  EXPECT_TRUE(matches({"label.card=?", "failed"}, "tag=request"));
  EXPECT_FALSE(matches({"label.item=23*"}));
  EXPECT_TRUE(matches({"failed note.says=\"a b\"  label.card=\"a\""}));
  EXPECT_FALSE(matches({"note.says=\"a\\\" b\""}));
  EXPECT_FALSE(matches({"note.card=a"}));
}

TEST(TraceFilter, TakesWhatWasOpenWhenItsProcessDied) {
  for (const char* const tag : {"request", "pay", "retry"})
    EXPECT_TRUE(matches({"died"}, std::string("tag=") + tag)) << tag;
  EXPECT_FALSE(matches({"died"}, "tag=query"));
  EXPECT_TRUE(matches({"died", "failed"}, "tag=pay"));
  EXPECT_FALSE(matches({"died", "failed"}, "tag=retry"));
}

TEST(TraceChoice, TakesLateParts_OfTracesThatItTook) {
  TraceFilter filter;
  std::vector<std::string> words{"failed"};
  ASSERT_TRUE(filter.take_from(words));
  TraceChoice choice(filter);
  SpanTrace late;
  late.id = order().id;
  late.is_late = true;
  late.spans = {order().spans.front()};
  EXPECT_FALSE(choice.takes(late));
  EXPECT_TRUE(choice.takes(order()));
  EXPECT_TRUE(choice.takes(late));
  late.id.low ^= 1;
  EXPECT_FALSE(choice.takes(late));
}

TEST(TraceFilter, TakesATraceByTheFirstDigitsOfItsId) {
  EXPECT_TRUE(matches({"trace=000000000000"}));
  EXPECT_TRUE(matches({"trace=" + text_of(order().id), "failed"}));
  EXPECT_FALSE(matches({"trace=0000000000000000000000000000000f"}));
}

TEST(TraceFilter, RefusesWhatIsNoIdAndHalfAQuote) {
  for (const char* const word :
       {"trace=", "trace=xyz", "trace=000000000000000000000000000000001", "note.a=\"b"}) {
    std::vector<std::string> words{word};
    EXPECT_FALSE(TraceFilter().take_from(words)) << word;
  }
}

TEST(TraceFilter, OfARecordingTakesTheWordsOfPrograms) {
  for (const char* const yes : {"tag=*", "slower=9ms", "tag=query slower=2ms", "service=sh*",
                                "pid=11", "process=shop", "tag=miss", "share=100%"})
    EXPECT_TRUE(matches({}, yes)) << yes;
  for (const char* const no : {"tag=nosuch", "slower=10ms", "tag=query slower=3ms", "service=x",
                               "pid=12", "process=x", "tag=miss slower=1ns", "share=1%"})
    EXPECT_FALSE(matches({}, no)) << no;
  EXPECT_TRUE(matches({}));
}

TEST(SlowSpan, IsTheFirstThatTheFilterSelects) {
  const auto slow_of = [](const char* filter) {
    return slow_span(order(), *wire::parse_capture_filter(filter));
  };
  EXPECT_EQ(slow_of("slower=2ms"), 1U);
  EXPECT_EQ(slow_of("tag=pay,query slower=2ms"), 2U);
  EXPECT_EQ(slow_of("tag=pay,query slower=3ms"), 3U);
  EXPECT_EQ(slow_of("tag=query slower=3ms"), 0U);
  EXPECT_EQ(slow_of("slower=2ms service=nosuch"), 0U);
  EXPECT_EQ(slow_of("tag=request"), 0U);
}

}  // namespace
}  // namespace pcp::trace::command
