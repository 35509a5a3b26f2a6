// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/span_trace.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "span_samples.hpp"

namespace pcp::trace::command {
namespace {

// The tag of each span, with a dot for each span above it.
std::vector<std::string> shape_of(std::vector<SpanEvent> spans) {
  const SpanTrace trace = trace_of(std::move(spans));
  std::vector<std::string> shape;
  for (const Node& node : nodes_of(trace))
    shape.push_back(std::string(node.depth, '.') + node.span->tag);
  return shape;
}

using Shape = std::vector<std::string>;

TEST(Tree, IsTheSameInWhateverOrderItsSpansCome) {
  const std::vector<SpanEvent> spans{span_of("leaf", 4, 2, 2), span_of("second", 3, 1, 5),
                                     point_of("hit", 2, 1), span_of("first", 2, 1, 1, 3),
                                     span_of("root", 1, 0, 0, 10)};
  const Shape expected{"root", ".first", "..hit", "..leaf", ".second"};
  EXPECT_EQ(shape_of(spans), expected);
  EXPECT_EQ(shape_of({spans.rbegin(), spans.rend()}), expected);
}

TEST(Tree, HasWhatLacksAParentAtItsTop) {
  EXPECT_EQ(
      shape_of({span_of("orphan", 2, 99, 1), span_of("root", 1, 0), span_of("child", 3, 2, 2)}),
      (Shape{"root", "orphan", ".child"}));
}

TEST(Tree, HasEachSpanOnceWhateverParentsAreClaimed) {
  EXPECT_EQ(shape_of({span_of("own", 1, 1)}), Shape{"own"});
  EXPECT_EQ(shape_of({span_of("a", 1, 2, 0), span_of("b", 2, 1, 1), span_of("c", 3, 2, 2)}),
            (Shape{"a", ".b", "..c"}));
  EXPECT_EQ(shape_of({span_of("twin", 1, 0, 0), span_of("other twin", 1, 0, 1),
                      span_of("child", 2, 1, 2)}),
            (Shape{"twin", ".child", "other twin"}));
}

TEST(Tree, MayBeDeep) {
  std::vector<SpanEvent> spans;
  for (std::uint64_t i = 1; i <= 100'000; ++i) spans.push_back(span_of("a", i, i - 1, i));
  const SpanTrace trace = trace_of(std::move(spans));
  EXPECT_EQ(nodes_of(trace).back().depth, 99'999U);
}

TEST(OpenRequest, IsTheLongestOpenOneAndTheLastInsideItInItsProcess) {
  std::vector<SpanEvent> spans{span_of("root", 1, 0, 0, 99),   span_of("short", 2, 1, 80, 10),
                               span_of("long", 3, 1, 10, 80),  span_of("step", 4, 3, 20, 70),
                               span_of("ended", 5, 4, 30, 60), span_of("elsewhere", 6, 4, 40, 50)};
  EXPECT_FALSE(open_request(nodes_of(trace_of(spans))));
  for (const std::size_t open : {1U, 2U, 3U, 5U}) spans[open].flags = wire::kWasOpen;
  spans[5].pid = 12;
  const SpanTrace trace = trace_of(spans);
  const auto found = open_request(nodes_of(trace));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->outermost.tag + " " + found->last.tag, "long step");
}

TEST(Trace, LastsFromTheFirstBeginningToTheLastEnd) {
  const SpanTrace trace = trace_of(
      {span_of("root", 1, 0, 5, 10), span_of("before", 2, 1, 3, 1), span_of("after", 3, 1, 14, 6)});
  EXPECT_EQ(trace.begin_ns(), kMoment + 3 * kMs);
  EXPECT_EQ(trace.end_ns(), kMoment + 20 * kMs);
}

}  // namespace
}  // namespace pcp::trace::command
