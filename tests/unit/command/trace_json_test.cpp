// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/trace_json.hpp"

#include <string>

#include <gtest/gtest.h>

#include "unit/command/span_samples.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

TEST(TraceJson, HasAllThatIsKnownInALine) {
  SpanEvent root = span_of("a \"b\"\n", 1, 0, 0, 10);
  root.kind = wire::SpanKind::Server;
  root.aborted = true;
  root.reason = "no";
  root.attributes = "route=/a\\x20b rows=12 most=inf zip=\\x30815 sql=a\\x0ab\\x5cx0a";
  root.links = "00000000000000010000000000000002-0000000000000003";
  root.tid = 12;
  root.flags = 3;
  SpanEvent rows = point_of("rows", 1, 4);
  rows.kind = wire::SpanKind::Observe;
  rows.value = 2.5;
  rows.process = "front";
  SpanTrace trace;
  trace.id = {0x1234, 0xabcd};
  trace.spans = {root, rows};
  EXPECT_EQ(
      trace_json(trace),
      R"({"trace":"0000000000001234000000000000abcd","begin":"2027-01-15T08:00:00.000000000Z",)"
      R"("duration_ns":1e+07,"has_root":true,"is_torn":false,"is_late":false,"left_out":0,"spans":[)"
      R"({"tag":"a \"b\"\\x0a","kind":"server","span":"0000000000000001","parent":null,"depth":0,)"
      R"("begin":"2027-01-15T08:00:00.000000000Z","offset_ns":0,"duration_ns":1e+07,)"
      R"("aborted":true,"reason":"no","host":"saturn","service":"shop","process":"shop","pid":11,)"
      R"("tid":12,"flags":3,"attributes":{"route":"/a b","rows":12,"most":"inf","zip":"0815","sql":"a\u000ab\\x0a"},)"
      R"("links":["00000000000000010000000000000002-0000000000000003"]},)"
      R"({"tag":"rows","kind":"observe","span":"0000000000000001","depth":1,)"
      R"("begin":"2027-01-15T08:00:00.004000000Z","offset_ns":4e+06,"value":2.5,"host":"saturn",)"
      R"("service":"shop","process":"front","pid":11,"tid":0,"flags":0}]})"
      "\n");
}

TEST(TraceJson, SaysWhatWasOpenWhenItsProcessDied) {
  SpanEvent span = span_of("a", 1, 0);
  EXPECT_FALSE(has(trace_json(trace_of({span})), "was_open"));
  span.flags = wire::kWasOpen;
  EXPECT_TRUE(has(trace_json(trace_of({span})), R"("was_open":true,"aborted":false,)"));
}

TEST(TraceJson, SaysWhetherTheRootIsThere) {
  EXPECT_TRUE(has(trace_json(trace_of({span_of("child", 2, 1)})), R"("has_root":false)"));
}

TEST(TraceJson, SaysWhereItIsTorn) {
  SpanTrace trace =
      trace_of({span_of("request", 1, 0), span_of("pay", 3, 2), span_of("send", 5, 4)});
  trace.torn = {{3, "order_worker"}, {5, ""}};
  const std::string json = trace_json(trace);
  EXPECT_TRUE(has(json, R"("is_torn":true)"));
  trace.torn = {};
  trace.lacks_part_in = {{1, "bank"}};
  const std::string to = trace_json(trace);
  EXPECT_TRUE(has(to, R"("is_torn":false)"));
  EXPECT_TRUE(has(to, R"("parent":null,"lacks_part_in":"bank")"));
  EXPECT_TRUE(has(json, R"("parent":"0000000000000002","torn_from":"order_worker")"));
  EXPECT_TRUE(has(json, R"("parent":"0000000000000004","torn_from":null)"));
}

}  // namespace
}  // namespace pcp::trace::command
