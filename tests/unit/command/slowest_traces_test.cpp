// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/slowest_traces.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/span_samples.hpp"

namespace pcp::trace::command {
namespace {

SpanTrace request(std::uint64_t id, std::uint64_t ms) {
  return trace_of({span_of("request", 1, 0, 0, ms, id)}, id);
}

std::vector<std::uint64_t> spans_of(const SpanTrace& trace) {
  std::vector<std::uint64_t> ids;
  for (const SpanEvent& span : trace.spans) ids.push_back(span.span);
  return ids;
}

TEST(SlowestTraces, AreTheOnesThatTookLongest) {
  SlowestTraces slowest({.traces = 3});
  for (const unsigned ms : {5U, 1U, 9U, 7U, 2U, 8U}) slowest.add(request(ms, ms));
  EXPECT_EQ(ids_of(slowest.take()), (std::vector<std::uint64_t>{9, 8, 7}));
  EXPECT_TRUE(slowest.take().empty());
}

TEST(SlowestTraces, AreThoseOfTheSlowestRequestsWhateverGoesOnAfterThem) {
  SlowestTraces slowest({.traces = 1});
  slowest.add(request(1, 20));
  slowest.add(
      trace_of({span_of("request", 1, 0, 0, 10, 2), span_of("goes on", 2, 1, 5, 90, 2)}, 2));
  EXPECT_EQ(ids_of(slowest.take()), (std::vector<std::uint64_t>{1}));
}

TEST(SlowestTraces, HaveSpansNotOnlyEvents) {
  SlowestTraces slowest;
  slowest.add(trace_of({point_of("miss", 1, 0), point_of("miss", 1, 5)}));
  EXPECT_TRUE(slowest.take().empty());
}

TEST(SlowestTraces, GetWhatComesLater) {
  SlowestTraces slowest;
  slowest.add(request(1, 10));
  slowest.add(request(2, 20));
  SpanTrace late = request(1, 0);
  late.spans = {span_of("after", 7, 1, 0, 30)};
  late.is_late = true;
  slowest.add(late);
  const std::vector<SpanTrace> all = slowest.take();
  ASSERT_EQ(ids_of(all), (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(spans_of(all[1]), (std::vector<std::uint64_t>{1, 7}));
  EXPECT_FALSE(all[1].is_late);
}

// 1 - 2 - 3, 1 - 4, 1 - 5 - 6: span 6 is long, but its parent 5 is short.
SpanTrace tree() {
  return trace_of({span_of("root", 1, 0, 0, 100), span_of("long", 2, 1, 1, 50),
                   span_of("short", 3, 2, 2, 3), span_of("short", 4, 1, 60, 4),
                   span_of("short", 5, 1, 70, 2), span_of("async", 6, 5, 71, 20)});
}

TEST(ATrimmedTrace, HasItsLongestSpansWithAllThatTheyAreAPartOf) {
  SpanTrace trace = tree();
  trim(trace, 4, 1u << 20);
  EXPECT_EQ(spans_of(trace), (std::vector<std::uint64_t>{1, 2, 5, 6}));
  EXPECT_EQ(trace.spans_left_out, 2U);
  trim(trace, 4, 1u << 20);
  EXPECT_EQ(trace.spans_left_out, 2U);
}

TEST(ATrimmedTrace, BeginsAndEndsAsBefore) {
  SpanTrace trace = tree();
  trace.spans[3].begin_ns = kMoment + 200 * kMs;  // the last one is short
  trace.spans.push_back(point_of("before all", 0, 0));
  trace.spans.back().begin_ns = kMoment - 1;
  trim(trace, 3, 1u << 20);
  EXPECT_EQ(trace.begin_ns(), kMoment - 1);
  EXPECT_EQ(trace.end_ns(), kMoment + 204 * kMs);
  EXPECT_EQ(trace.spans_left_out, 4U);
}

TEST(ATrimmedTrace, HasNoMoreBytesThanAllowed) {
  SpanTrace trace = tree();
  for (SpanEvent& span : trace.spans) span.attributes = std::string(1000, 'a');
  trim(trace, 100, bytes_of(trace.spans[0]) * 2 + 10);
  EXPECT_EQ(spans_of(trace), (std::vector<std::uint64_t>{1, 2}));
}

TEST(ATrimmedTrace, HasSomeSpanWhateverTheyClaimToBeAPartOf) {
  SpanTrace trace = trace_of({span_of("a", 1, 2), span_of("b", 2, 1), span_of("c", 3, 3)});
  trim(trace, 0, 0);
  EXPECT_EQ(trace.spans.size(), 1U);
  EXPECT_EQ(trace.spans_left_out, 2U);
}

}  // namespace
}  // namespace pcp::trace::command
