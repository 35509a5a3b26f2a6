// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/span_tags.hpp"

#include <utility>

namespace pcp::trace::command {

void SpanTags::add(const SpanTrace& trace) {
  for (const SpanEvent& span : trace.spans) {
    if (span.is_event()) continue;
    is_nested_[span.tag] |= span.parent != 0;
    if (span.aborted) continue;
    LongestSpan& its = longest_[span.tag];
    if (span.duration_ns >= its.duration_ns)
      its = {span.duration_ns, WallTime(std::chrono::nanoseconds(span.end_ns()))};
  }
}

void SpanTags::finish(RecordedSpans& spans) {
  spans.longest = std::move(longest_);
  spans.is_nested = std::move(is_nested_);
}

}  // namespace pcp::trace::command
