// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/slowest_traces.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

namespace pcp::trace::command {

namespace {

bool has_spans(const SpanTrace& trace) {
  return std::any_of(trace.spans.begin(), trace.spans.end(),
                     [](const SpanEvent& each) { return !each.is_event(); });
}

// Chooses spans of a trace, within limits.
class Choice {
 public:
  Choice(const SpanTrace& trace, std::size_t most_spans, std::size_t most_bytes)
      : most_spans_(most_spans), most_bytes_(most_bytes) {
    for (const Node& node : nodes_of(trace)) parents_[node.span] = node.parent;
  }

  // Adds the span with all its ancestors, or nothing. The first call always adds.
  void add(const SpanEvent* span) {
    std::vector<const SpanEvent*> added;
    std::size_t bytes = 0;
    for (; span != nullptr && !chosen_.contains(span); span = parents_.at(span)) {
      added.push_back(span);
      bytes += bytes_of(*span);
    }
    const bool fits = chosen_.size() + added.size() <= most_spans_ && bytes_ + bytes <= most_bytes_;
    if (!fits && !chosen_.empty()) return;
    chosen_.insert(added.begin(), added.end());
    bytes_ += bytes;
  }

  bool has(const SpanEvent* span) const { return chosen_.contains(span); }

 private:
  const std::size_t most_spans_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::unordered_map<const SpanEvent*, const SpanEvent*> parents_;
  std::unordered_set<const SpanEvent*> chosen_;
};

// Sorted by importance.
std::vector<const SpanEvent*> by_weight(const std::vector<SpanEvent>& spans) {
  std::vector<const SpanEvent*> all;
  all.reserve(spans.size());
  for (const SpanEvent& span : spans) all.push_back(&span);
  const auto first = std::ranges::min_element(all, {}, &SpanEvent::begin_ns);
  std::iter_swap(all.begin(), first);
  const auto last = std::ranges::max_element(all, {}, &SpanEvent::end_ns);
  const auto second = all.begin() + (last == all.begin() ? 0 : 1);
  std::iter_swap(second, last);
  std::sort(std::next(second), all.end(), [](const auto* one, const auto* other) {
    return one->duration_ns != other->duration_ns ? one->duration_ns > other->duration_ns
                                                  : one->begin_ns < other->begin_ns;
  });
  return all;
}

}  // namespace

void trim(SpanTrace& trace, std::size_t most_spans, std::size_t most_bytes) {
  std::size_t bytes = 0;
  for (const SpanEvent& span : trace.spans) bytes += bytes_of(span);
  if (trace.spans.size() <= most_spans && bytes <= most_bytes) return;
  Choice choice(trace, most_spans, most_bytes);
  for (const SpanEvent* const span : by_weight(trace.spans)) choice.add(span);
  std::vector<SpanEvent> kept;
  for (SpanEvent& span : trace.spans)
    if (choice.has(&span)) kept.push_back(std::move(span));
  trace.spans_left_out += trace.spans.size() - kept.size();
  trace.spans = std::move(kept);
}

void SlowestTraces::add(SpanTrace trace) {
  if (!has_spans(trace) || (trace.is_late && add_to_known(trace))) return;
  const std::uint64_t duration = trace.request_ns();
  if (by_duration_.size() >= limits_.traces && duration <= by_duration_.begin()->first) return;
  trim(trace, limits_.spans_of_one, limits_.bytes_of_one);
  by_duration_.emplace(duration, std::move(trace));
  if (by_duration_.size() > limits_.traces) by_duration_.erase(by_duration_.begin());
}

bool SlowestTraces::add_to_known(SpanTrace& late) {
  const auto known = std::find_if(by_duration_.begin(), by_duration_.end(), [&](const auto& each) {
    return each.second.id.is_set() && each.second.id == late.id;
  });
  if (known == by_duration_.end()) return false;
  SpanTrace whole = std::move(known->second);
  by_duration_.erase(known);
  std::move(late.spans.begin(), late.spans.end(), std::back_inserter(whole.spans));
  whole.spans_left_out += late.spans_left_out;
  const std::uint64_t duration = whole.request_ns();
  trim(whole, limits_.spans_of_one, limits_.bytes_of_one);
  by_duration_.emplace(duration, std::move(whole));
  return true;
}

std::vector<SpanTrace> SlowestTraces::take() {
  std::vector<SpanTrace> all;
  for (auto each = by_duration_.rbegin(); each != by_duration_.rend(); ++each)
    all.push_back(std::move(each->second));
  by_duration_.clear();
  return all;
}

}  // namespace pcp::trace::command
