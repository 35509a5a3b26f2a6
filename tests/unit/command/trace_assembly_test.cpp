// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/trace_assembly.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "span_samples.hpp"

namespace pcp::trace::command {
namespace {

constexpr Instant kBegin{std::chrono::hours(1)};
constexpr Instant second(double number) {
  return kBegin + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(number));
}

TEST(Trace, IsFinishedWhenItsRootIsThereAndNothingMoreComes) {
  TraceAssembly assembly;
  assembly.add(span_of("child", 2, 1), second(0));
  assembly.add(span_of("root", 1, 0), second(0.5));
  EXPECT_TRUE(assembly.take_finished(second(1.4)).empty());
  assembly.add(span_of("other host's", 3, 1), second(1.4));
  EXPECT_TRUE(assembly.take_finished(second(2.3)).empty());
  const std::vector<SpanTrace> finished = assembly.take_finished(second(2.4));
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].spans.size(), 3U);
  EXPECT_FALSE(finished[0].is_late);
  EXPECT_TRUE(assembly.take_all().empty());
}

TEST(Trace, WithoutARootIsWaitedForLonger) {
  TraceAssembly assembly;
  assembly.add(span_of("child", 2, 1), second(0));
  EXPECT_TRUE(assembly.take_finished(second(4.9)).empty());
  EXPECT_EQ(assembly.take_finished(second(5)).size(), 1U);
}

TEST(Trace, ThatNeverEndsIsShownAllTheSame) {
  TraceAssembly assembly;
  for (int i = 0; i < 60; ++i) {
    assembly.add(span_of("step", static_cast<std::uint64_t>(i) + 2, 1), second(i));
    EXPECT_TRUE(assembly.take_finished(second(i)).empty()) << i;
  }
  const std::vector<SpanTrace> finished = assembly.take_finished(second(60));
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].spans.size(), 60U);
}

// Its parts are sent while the request is still open.
TEST(Trace, OfWhichASpanIsAwaited_IsNotFinishedBefore) {
  TraceAssembly assembly({.selects = [](const SpanEvent& span) { return span.tag == "slow"; }});
  assembly.add(span_of("part", 2, 1), second(0));
  EXPECT_TRUE(assembly.take_finished(second(50)).empty());
  assembly.add(span_of("slow", 1, 0), second(50));
  EXPECT_TRUE(assembly.take_finished(second(50.9)).empty());
  EXPECT_EQ(assembly.take_finished(second(51)).size(), 1U);
}

TEST(Trace, ThatWasShownIsLateWhenMoreOfItComes) {
  TraceAssembly assembly;
  assembly.add(span_of("root", 1, 0), second(0));
  EXPECT_EQ(assembly.take_finished(second(1)).size(), 1U);
  assembly.add(span_of("late", 2, 1), second(2));
  const std::vector<SpanTrace> finished = assembly.take_finished(second(3));
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_TRUE(finished[0].is_late);
}

TEST(Trace, HasASpanOnceThoughTwoHostsTellOfIt) {
  TraceAssembly assembly;
  assembly.add(span_of("root", 1, 0), second(0));
  assembly.add(span_of("root", 1, 0), second(0));
  for (int i = 0; i < 3; ++i) assembly.add(point_of("hit", 1, 0), second(0));
  EXPECT_EQ(assembly.take_all().at(0).spans.size(), 4U);
}

TEST(Traces, ComeInTheOrderOfTheirBeginnings) {
  TraceAssembly assembly;
  assembly.add(span_of("second", 1, 0, 5, 1, 7), second(0));
  assembly.add(span_of("first", 2, 0, 4, 1, 8), second(0));
  EXPECT_EQ(ids_of(assembly.take_all()), (std::vector<std::uint64_t>{8, 7}));
}

TEST(Event, OfNoTraceIsShownAtOnce) {
  TraceAssembly assembly;
  SpanEvent event = point_of("hit", 0, 1);
  event.trace = {};
  assembly.add(event, second(0));
  EXPECT_EQ(assembly.take_finished(second(0)).size(), 1U);
}

TEST(Memory, IsBoundedByShowingTheOldestEarlier) {
  TraceAssembly assembly({.traces = 3});
  for (std::uint64_t i = 1; i <= 5; ++i)
    assembly.add(span_of("root", i, 0, i, 1, i), second(static_cast<double>(i) / 100));
  EXPECT_EQ(ids_of(assembly.take_finished(second(0.1))), (std::vector<std::uint64_t>{1, 2}));
}

TEST(Memory, OfLongTextsIsBoundedToo) {
  TraceAssembly assembly({.bytes = 9'000});
  for (std::uint64_t i = 1; i <= 5; ++i) {
    SpanEvent span = span_of("root", i, 0, i, 1, i);
    span.attributes.assign(3000, 'a');
    assembly.add(span, second(0));
  }
  EXPECT_EQ(assembly.take_finished(second(0.1)).size(), 3U);
  EXPECT_EQ(assembly.take_finished(second(0.1)).size(), 0U);
}

TEST(Memory, OfOneTraceIsBoundedAndTheRestCounted) {
  TraceAssembly assembly({.spans_of_one = 10});
  for (std::uint64_t i = 1; i <= 25; ++i) assembly.add(span_of("a", i + 1, 1), second(0));
  SpanEvent failed = span_of("a", 90, 1);
  failed.aborted = true;
  assembly.add(failed, second(0));
  assembly.add(span_of("root", 1, 0), second(0));
  for (std::uint64_t i = 100; i < 120; ++i) {
    failed.span = i;
    assembly.add(failed, second(0));
  }
  const std::vector<SpanTrace> finished = assembly.take_finished(second(1));
  ASSERT_EQ(finished.size(), 1U) << "the root was seen";
  EXPECT_EQ(finished[0].spans.size(), 20U);  // ten of them may decide about the trace
  EXPECT_EQ(finished[0].spans[10].span, 90U);
  EXPECT_EQ(finished[0].spans[11].span, 1U);
  EXPECT_EQ(finished[0].spans_left_out, 15U + 12U);
}

TEST(Memory, OfWhatWasShownIsBounded) {
  TraceAssembly assembly({.remembered = 1});
  for (std::uint64_t i = 1; i <= 2; ++i) {
    assembly.add(span_of("root", i, 0, i, 1, i), second(0));
    assembly.take_all();
  }
  assembly.add(span_of("late", 3, 1, 1, 1, 1), second(0));
  assembly.add(span_of("late", 4, 2, 2, 1, 2), second(0));
  const std::vector<SpanTrace> all = assembly.take_all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].is_late);
  EXPECT_TRUE(all[1].is_late);
}

}  // namespace
}  // namespace pcp::trace::command
