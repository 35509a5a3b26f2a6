// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "command/show/waterfall.hpp"
#include "unit/command/span_samples.hpp"

namespace pcp::trace::command {
namespace {

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
    SpanTrace& trace = spans.slowest.emplace_back();
    trace.id = {0, tree};
    trace.spans = {span_of("request" + std::to_string(tree), 1, 0, 0, 100)};
    for (std::uint64_t child = 2; child <= 20; ++child)
      trace.spans.push_back(span_of("part", child, 1, child));
  }
  const std::string text = span_summary(spans, Shown(Terminal{}));
  EXPECT_TRUE(text.starts_with("captured 9 traces, 99 spans\n\nrequest1 ")) << text;
  EXPECT_NE(text.find("\nrequest3 "), text.npos) << text;
  EXPECT_EQ(text.find("request4"), text.npos) << text;
  EXPECT_NE(text.find("  and 5 lines more, which --json has\n"), text.npos) << text;
}

}  // namespace
}  // namespace pcp::trace::command
