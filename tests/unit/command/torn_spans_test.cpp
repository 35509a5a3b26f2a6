// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/torn_spans.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "span_samples.hpp"

namespace pcp::trace::command {
namespace {

SpanEvent in(const std::string& service, SpanEvent span) {
  span.service = service;
  return span;
}

// A request that passes through a worker to a bank.
SpanTrace whole() {
  return trace_of({in("shop", span_of("request", 1, 0)), in("order_worker", span_of("order", 2, 1)),
                   in("bank", span_of("pay", 3, 2)), in("bank", span_of("sql", 4, 3))});
}

SpanTrace without(std::size_t index) {
  SpanTrace trace = whole();
  trace.spans.erase(trace.spans.begin() + static_cast<std::ptrdiff_t>(index));
  return trace;
}

void mark(TornSpans& torn, SpanTrace& trace) {
  torn.learn(trace);
  torn.mark(trace);
}

using Torn = std::map<std::uint64_t, std::string>;

TEST(TornSpans, LackAParentWhileOtherPartsAreThere) {
  TornSpans torn;
  SpanTrace trace = without(1);
  mark(torn, trace);
  EXPECT_EQ(trace.torn, (Torn{{3, ""}}));
  const std::vector<Node> nodes = nodes_of(trace);
  EXPECT_EQ(torn_from(trace, nodes[0]), nullptr);
  ASSERT_NE(torn_from(trace, nodes[1]), nullptr);
  trace.spans.push_back(in("order_worker", span_of("order", 2, 1)));  // it was only late
  for (const Node& node : nodes_of(trace)) EXPECT_EQ(torn_from(trace, node), nullptr);
}

TEST(TornSpans, AreNoneInAWholeTraceOrInOneThatBeganElsewhere) {
  TornSpans torn;
  SpanTrace trace = whole();
  mark(torn, trace);
  EXPECT_TRUE(trace.torn.empty());
  trace.spans.erase(trace.spans.begin());
  mark(torn, trace);
  EXPECT_TRUE(trace.torn.empty());
}

// The worker's span has given its trace away, maybe to a program that is not traced.
TEST(TornSpans, LackTheBankIfTheWorkerHasCalledItInAnotherTrace) {
  TornSpans torn;
  SpanTrace other = whole();
  other.spans[1].kind = wire::SpanKind::Client;
  other.spans[2].kind = wire::SpanKind::Server;
  SpanTrace trace = other;
  trace.spans.resize(2);  // without the bank
  const auto lacks_part_in = [&] {
    trace.lacks_part_in.clear();
    torn.mark(trace);
    return trace.lacks_part_in;
  };
  mark(torn, trace);
  EXPECT_EQ(lacks_part_in(), Torn());
  mark(torn, other);
  EXPECT_EQ(other.lacks_part_in, Torn());
  EXPECT_EQ(lacks_part_in(), (Torn{{2, "bank"}}));
  EXPECT_EQ(trace.torn, Torn());
  other.spans[2].service = "cash";
  mark(torn, other);
  EXPECT_EQ(lacks_part_in(), (Torn{{2, ""}}));
  trace.spans[1].aborted = true;
  EXPECT_EQ(lacks_part_in(), Torn());
}

TEST(TornSpans, AreNotFoundInWhatWasCutOrCameLater) {
  TornSpans torn;
  for (const bool is_late : {false, true}) {
    SpanTrace trace = without(1);
    trace.is_late = is_late;
    trace.spans_left_out = is_late ? 0 : 1;
    mark(torn, trace);
    EXPECT_TRUE(trace.torn.empty()) << is_late;
  }
}

TEST(TornSpans, AreFromTheServiceThatCallsInAllOtherTraces) {
  TornSpans torn;
  SpanTrace before = without(1);
  mark(torn, before);
  SpanTrace other = whole();
  mark(torn, other);
  SpanTrace after = without(1);
  mark(torn, after);
  EXPECT_EQ(after.torn, (Torn{{3, "order_worker"}}));
  torn.mark(before);
  EXPECT_EQ(before.torn, (Torn{{3, "order_worker"}}));
}

TEST(TornSpans, AreFromAnUnknownServiceIfSeveralCall) {
  TornSpans torn;
  for (const char* const service : {"order_worker", "refund_worker"}) {
    SpanTrace other = whole();
    other.spans[1].service = service;
    mark(torn, other);
  }
  SpanTrace trace = without(1);
  mark(torn, trace);
  EXPECT_EQ(trace.torn, (Torn{{3, ""}}));
}

}  // namespace
}  // namespace pcp::trace::command
