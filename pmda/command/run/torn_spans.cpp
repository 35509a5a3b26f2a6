// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/torn_spans.hpp"

#include <algorithm>
#include <unordered_set>

namespace pcp::trace::command {

namespace {

const std::string& service_of(const SpanEvent& span) {
  return span.service.empty() ? span.process : span.service;
}

std::string kind_of(const SpanEvent& span) { return service_of(span) + '\0' + span.tag; }

// Also if it is of the same process, which called itself.
bool came_with_headers(const SpanEvent& span) { return span.kind == wire::SpanKind::Server; }

}  // namespace

void TornSpans::learn(const SpanTrace& trace) {
  for (const Node& node : nodes_of(trace)) {
    if (node.parent == nullptr || node.span->is_event()) continue;
    learn(callers_, *node.span, *node.parent);
    if (came_with_headers(*node.span)) learn(called_, *node.parent, *node.span);
  }
}

void TornSpans::learn(Services& services, const SpanEvent& span, const SpanEvent& other) {
  const std::string& service = service_of(other);
  const std::string kind = kind_of(span);
  const auto known = services.find(kind);
  if (known == services.end()) {
    if (services.size() < kMostKinds) services.emplace(kind, service);
  } else if (known->second != service) {
    known->second.clear();
  }
}

// Late parts have parents in earlier parts, and cut traces may lack some: neither is marked.
void TornSpans::mark(SpanTrace& trace) const {
  if (trace.is_late || trace.spans_left_out > 0) return;
  const std::vector<Node> nodes = nodes_of(trace);
  const auto trees = std::count_if(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.parent == nullptr && !node.span->is_event();
  });
  std::unordered_set<const SpanEvent*> callers;
  for (const Node& node : nodes)
    if (node.parent != nullptr && came_with_headers(*node.span)) callers.insert(node.parent);
  for (const Node& node : nodes) {
    const SpanEvent& span = *node.span;
    if (node.lacks_parent() && trees > 1) {
      const auto caller = callers_.find(kind_of(span));
      trace.torn[span.span] = caller != callers_.end() ? caller->second : "";
    }
    // A failed call may not have come to the other program.
    if (span.kind != wire::SpanKind::Client || span.aborted || callers.contains(&span)) continue;
    if (const auto called = called_.find(kind_of(span)); called != called_.end())
      trace.lacks_part_in[span.span] = called->second;
  }
}

}  // namespace pcp::trace::command
