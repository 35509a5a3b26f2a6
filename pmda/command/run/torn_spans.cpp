// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/torn_spans.hpp"

#include <algorithm>

namespace pcp::trace::command {

namespace {

const std::string& service_of(const SpanEvent& span) {
  return span.service.empty() ? span.process : span.service;
}

std::string kind_of(const SpanEvent& span) { return service_of(span) + '\0' + span.tag; }

}  // namespace

// Late parts have parents in earlier parts, and cut traces may lack some: neither is marked.
void TornSpans::mark(SpanTrace& trace) {
  const std::vector<Node> nodes = nodes_of(trace);
  learn(nodes);
  const auto trees = std::count_if(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.parent == nullptr && !node.span->is_event();
  });
  if (trace.is_late || trace.spans_left_out > 0 || trees < 2) return;
  for (const Node& node : nodes)
    if (node.lacks_parent()) trace.torn[node.span->span];
  name(trace);
}

void TornSpans::learn(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (node.parent == nullptr || node.span->is_event()) continue;
    const std::string& caller = service_of(*node.parent);
    const std::string kind = kind_of(*node.span);
    const auto known = callers_.find(kind);
    if (known == callers_.end()) {
      if (callers_.size() < kMostKinds) callers_.emplace(kind, caller);
    } else if (known->second != caller) {
      known->second.clear();
    }
  }
}

void TornSpans::name(SpanTrace& trace) const {
  if (trace.torn.empty()) return;
  for (const SpanEvent& span : trace.spans) {
    const auto torn = trace.torn.find(span.span);
    if (torn == trace.torn.end() || span.is_event()) continue;
    const auto caller = callers_.find(kind_of(span));
    if (caller != callers_.end()) torn->second = caller->second;
  }
}

}  // namespace pcp::trace::command
