// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/chrome_trace.hpp"

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "span_samples.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

std::string exported(std::vector<SpanEvent> spans) {
  return chrome_trace({trace_of(std::move(spans))});
}

TEST(Chrome, HasWhatNestsAsCompleteEvents) {
  SpanEvent query = span_of("query", 2, 1, 1, 2);
  query.aborted = true;
  query.reason = "too slow";
  query.attributes = "rows=12";
  query.begin_ns += 1;
  EXPECT_EQ(
      exported({span_of("order", 1, 0, 0, 10), query}),
      R"({"displayTimeUnit":"ns","otherData":{"base":"2027-01-15T08:00:00.000000000Z",)"
      R"("base_ns":"1800000000000000000"},"traceEvents":[)"
      R"({"ph":"M","name":"process_name","pid":11,"tid":0,"args":{"name":"shop 11@saturn"}},)"
      R"({"ph":"M","name":"thread_name","pid":11,"tid":0,"args":{"name":"thread 0"}},)"
      R"({"ph":"X","name":"order","cat":"transact","pid":11,"tid":0,"ts":0,"dur":10000},)"
      R"({"ph":"X","name":"query","cat":"transact","pid":11,"tid":0,"ts":1000.0009765625,"dur":2000,)"
      R"("args":{"aborted":"too slow","rows":12}}]})"
      "\n");
}

TEST(Chrome, SaysWhatWasOpenWhenItsProcessDied) {
  SpanEvent span = span_of("a", 1, 0);
  span.flags = wire::kWasOpen;
  EXPECT_TRUE(has(exported({span}), R"("args":{"died":"its process died while it was open"})"));
}

TEST(Chrome, HasWhatOverlapsAsAsynchronousEvents) {
  const std::string document = exported({span_of("a", 1, 0, 0, 10), span_of("b", 2, 1, 5, 10)});
  EXPECT_TRUE(has(document, R"({"ph":"X","name":"a")"));
  EXPECT_TRUE(has(document,
                  R"({"ph":"b","name":"b","cat":"transact","pid":11,"tid":0,"ts":5000,)"
                  R"("id":"0x0000000000000002"},{"ph":"e","name":"b","cat":"transact","pid":11,)"
                  R"("tid":0,"ts":15000,"id":"0x0000000000000002"})"));
}

// The numbers that follow the key in the document, as a reader parses them.
std::vector<double> numbers(const std::string& document, const std::string& key) {
  std::vector<double> found;
  for (std::size_t at = 0; (at = document.find(key, at)) != document.npos;)
    found.push_back(std::strtod(document.c_str() + (at += key.size()), nullptr));
  return found;
}

TEST(Chrome, HasWhatMeetsMeetInSumsOfDoublesToo) {
  std::vector<SpanEvent> spans;
  for (const unsigned begin_ns : {0u, 100u, 300u, 1'100u, 3'300u, 9'999'999u, 123'456'789u}) {
    if (!spans.empty()) spans.back().duration_ns = kMoment + begin_ns - spans.back().begin_ns;
    spans.push_back(span_of("a", begin_ns + 1, 0));
    spans.back().begin_ns = kMoment + begin_ns;
  }
  const std::string document = exported(spans);
  const std::vector<double> begins = numbers(document, "\"ts\":");
  const std::vector<double> durations = numbers(document, "\"dur\":");
  ASSERT_EQ(durations.size(), spans.size());
  for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
    EXPECT_EQ(begins[i] + durations[i], begins[i + 1]);
    EXPECT_EQ(begins[i] - begins[1] + durations[i], begins[i + 1] - begins[1]);
    EXPECT_EQ(std::llround(durations[i] * 1000), spans[i].duration_ns);
  }
}

TEST(Chrome, LetsThreadsOverlap) {
  SpanEvent other = span_of("b", 2, 1, 5, 10);
  other.tid = 7;
  EXPECT_TRUE(has(exported({span_of("a", 1, 0, 0, 10), other}), R"({"ph":"X","name":"b")"));
}

TEST(Chrome, TellsProcessesOfTwoHostsApartAndDrawsAnArrow) {
  SpanEvent other = span_of("pay", 2, 1, 2, 3);
  other.host = "jupiter";
  const std::string document = exported({span_of("order", 1, 0, 0, 10), other});
  EXPECT_TRUE(has(document, R"("pid":12,"tid":0,"args":{"name":"shop 11@saturn"})") ||
              has(document, R"("pid":12,"tid":0,"args":{"name":"shop 11@jupiter"})"))
      << document;
  EXPECT_TRUE(has(document, R"("ph":"s","name":"calls","cat":"calls","id":"0x0000000000000002")"));
  EXPECT_TRUE(has(document, R"("ts":2000,"bp":"e"})"));
}

TEST(Chrome, DrawsAnArrowFromAnAsynchronousCaller) {
  SpanEvent other = span_of("pay", 3, 2, 6, 3);
  other.host = "jupiter";
  const std::string document =
      exported({span_of("order", 1, 0, 0, 10), span_of("ask", 2, 0, 5, 10), other});
  const std::string arrow = R"("bind_id":"0x0000000000000003","flow_)";
  EXPECT_TRUE(has(document, R"("ts":6000,"id":"0x0000000000000002",)" + arrow + R"(out":true})"))
      << document;
  EXPECT_TRUE(has(document, R"("dur":3000,)" + arrow + R"(in":true})"));
}

TEST(Chrome, HasPointsAndValues) {
  SpanEvent rows = point_of("rows", 1, 2);
  rows.kind = wire::SpanKind::Observe;
  rows.value = 17;
  SpanEvent sent = point_of("sent", 1, 3);
  sent.kind = wire::SpanKind::Add;
  sent.value = 5;
  const std::string document =
      exported({span_of("a", 1, 0, 0, 10), point_of("hit", 1, 1), rows, sent});
  EXPECT_TRUE(
      has(document, R"({"ph":"i","name":"hit","cat":"point","pid":11,"tid":0,"ts":1000,"s":"t"})"));
  EXPECT_TRUE(has(document, R"("ph":"C","name":"rows")"));
  EXPECT_TRUE(has(document, R"("args":{"value":17})"));
  EXPECT_TRUE(has(document, R"("args":{"added":5})"));
}

TEST(Chrome, OfNothingIsADocumentToo) {
  EXPECT_EQ(chrome_trace({}),
            R"({"displayTimeUnit":"ns","otherData":{"base":"1970-01-01T00:00:00.000000000Z",)"
            R"("base_ns":"0"},"traceEvents":[]})"
            "\n");
}

}  // namespace
}  // namespace pcp::trace::command
