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

void group_span_tags(RecordedSpans& spans, const LabelChoice& choice) {
  if (!choice.changes_tags()) return;
  std::map<std::string, bool> is_nested;
  for (const auto& [tag, its] : spans.is_nested) {
    const std::optional<std::string> group = choice.group_of(tag);
    if (!group) continue;
    is_nested[*group] |= its;
    if (*group != tag) spans.groups.emplace(tag, *group);
  }
  spans.is_nested = std::move(is_nested);
}

}  // namespace pcp::trace::command
