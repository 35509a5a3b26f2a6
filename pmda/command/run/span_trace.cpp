// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/span_trace.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace pcp::trace::command {

namespace {

// By begin; at equal begin the longer one first, which may be the parent.
bool is_before(const SpanEvent* one, const SpanEvent* other) {
  return std::tuple(one->begin_ns, one->is_event(), other->duration_ns, one->span) <
         std::tuple(other->begin_ns, other->is_event(), one->duration_ns, other->span);
}

class Forest {
 public:
  explicit Forest(const SpanTrace& trace) {
    all_.reserve(trace.spans.size());
    for (const SpanEvent& span : trace.spans) all_.push_back(&span);
    std::sort(all_.begin(), all_.end(), is_before);
    for (const SpanEvent* const span : all_)
      if (!span->is_event()) by_id_.emplace(span->span, span);
    for (const SpanEvent* const span : all_)
      if (const SpanEvent* const parent = parent_of(*span)) below_[parent].push_back(span);
  }

  std::vector<Node> nodes() {
    for (const SpanEvent* const span : all_)
      if (parent_of(*span) == nullptr) take_tree(span);
    // The rest are spans that claim to be each other's ancestors.
    for (const SpanEvent* const span : all_)
      if (!taken_.contains(span)) take_tree(span);
    return std::move(nodes_);
  }

 private:
  const SpanEvent* parent_of(const SpanEvent& span) const {
    const auto found = by_id_.find(span.is_event() ? span.span : span.parent);
    return found == by_id_.end() || found->second == &span ? nullptr : found->second;
  }

  void take_tree(const SpanEvent* top) {
    std::vector<Node> waiting{{top, nullptr, 0}};
    while (!waiting.empty()) {
      const Node node = waiting.back();
      waiting.pop_back();
      if (!taken_.insert(node.span).second) continue;
      nodes_.push_back(node);
      const auto below = below_.find(node.span);
      if (below == below_.end()) continue;
      for (auto child = below->second.rbegin(); child != below->second.rend(); ++child)
        waiting.push_back({*child, node.span, node.depth + 1});
    }
  }

  std::vector<const SpanEvent*> all_;
  std::unordered_map<std::uint64_t, const SpanEvent*> by_id_;
  std::unordered_map<const SpanEvent*, std::vector<const SpanEvent*>> below_;
  std::unordered_set<const SpanEvent*> taken_;
  std::vector<Node> nodes_;
};

}  // namespace

std::uint64_t SpanTrace::begin_ns() const {
  return std::ranges::min_element(spans, {}, &SpanEvent::begin_ns)->begin_ns;
}

std::uint64_t SpanTrace::end_ns() const {
  return std::ranges::max_element(spans, {}, &SpanEvent::end_ns)->end_ns();
}

std::uint64_t SpanTrace::request_ns() const {
  std::unordered_set<std::uint64_t> ids;
  for (const SpanEvent& each : spans)
    if (!each.is_event()) ids.insert(each.span);
  std::uint64_t longest = 0;
  for (const SpanEvent& each : spans)
    if (!each.is_event() && !ids.contains(each.parent))
      longest = std::max(longest, each.duration_ns);
  return longest;
}

const std::string* torn_from(const SpanTrace& trace, const Node& node) {
  const auto found = trace.torn.find(node.span->span);
  return node.lacks_parent() && found != trace.torn.end() ? &found->second : nullptr;
}

const std::string* lacks_part_in(const SpanTrace& trace, const Node& node) {
  const auto found = trace.lacks_part_in.find(node.span->span);
  return !node.span->is_event() && found != trace.lacks_part_in.end() ? &found->second : nullptr;
}

std::vector<Node> nodes_of(const SpanTrace& trace) { return Forest(trace).nodes(); }

std::optional<OpenRequest> open_request(const std::vector<Node>& nodes) {
  auto outermost = nodes.end();
  for (auto node = nodes.begin(); node != nodes.end(); ++node)
    if (node->span->was_open() &&
        (outermost == nodes.end() || node->span->duration_ns > outermost->span->duration_ns))
      outermost = node;
  if (outermost == nodes.end()) return {};
  const SpanEvent& first = *outermost->span;
  const SpanEvent* last = &first;
  for (auto node = outermost + 1; node != nodes.end() && node->depth > outermost->depth; ++node) {
    const SpanEvent& span = *node->span;
    if (span.was_open() && span.pid == first.pid && span.host == first.host &&
        span.begin_ns >= last->begin_ns)
      last = &span;
  }
  return OpenRequest{first, *last};
}

}  // namespace pcp::trace::command
