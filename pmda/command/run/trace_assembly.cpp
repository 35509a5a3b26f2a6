// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/trace_assembly.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pcp::trace::command {

void TraceAssembly::add(SpanEvent span, Instant now) {
  if (!span.trace.is_set()) {
    alone_.emplace_back().spans.push_back(std::move(span));
    return;
  }
  const Id id{span.trace.high, span.trace.low};
  const auto [place, is_new] = waiting_.try_emplace(id);
  Waiting& its = place->second;
  if (is_new) {
    its.trace.id = span.trace;
    its.trace.is_late = shown_.contain(id);
    its.first = now;
  }
  its.last = now;
  its.has_root |= !span.is_event() && span.parent == 0;
  const bool selects = limits_.selects && limits_.selects(span);
  its.is_selected = its.is_selected || !limits_.selects || selects;
  const bool decides = selects || span.parent == 0 || span.reasons() != 0;
  if (its.trace.spans.size() >= limits_.spans_of_one * (decides ? 2 : 1)) {
    ++its.trace.spans_left_out;
    return;
  }
  // If one host is watched twice, each span and event comes twice. Duplicate spans are known by
  // their id; events have none.
  if (!span.is_event() && !its.known.insert(span.span).second) return;
  its.bytes += bytes_of(span);
  bytes_ += bytes_of(span);
  its.trace.spans.push_back(std::move(span));
}

// The root of a late trace has come already, or will not come.
bool TraceAssembly::is_finished(const Waiting& waiting, Instant now) const {
  const bool is_whole = waiting.has_root || waiting.trace.is_late;
  const Duration patience = is_whole ? limits_.quiet : limits_.orphaned;
  return (now - waiting.last >= patience && (waiting.is_selected || waiting.trace.is_late)) ||
         now - waiting.first >= limits_.longest;
}

auto TraceAssembly::give(Traces::iterator which, std::vector<SpanTrace>& to) -> Traces::iterator {
  shown_.add(which->first);
  bytes_ -= which->second.bytes;
  to.push_back(std::move(which->second.trace));
  return waiting_.erase(which);
}

void TraceAssembly::make_room(std::vector<SpanTrace>& to) {
  const auto is_full = [this] {
    return waiting_.size() > limits_.traces || bytes_ > limits_.bytes;
  };
  if (!is_full()) return;
  std::vector<Traces::iterator> by_age;
  for (auto each = waiting_.begin(); each != waiting_.end(); ++each) by_age.push_back(each);
  std::ranges::sort(by_age, {}, [](const auto& each) { return each->second.first; });
  for (auto oldest = by_age.begin(); is_full(); ++oldest) give(*oldest, to);
}

std::vector<SpanTrace> TraceAssembly::take_finished(Instant now) {
  std::vector<SpanTrace> finished = std::exchange(alone_, {});
  for (auto each = waiting_.begin(); each != waiting_.end();)
    each = is_finished(each->second, now) ? give(each, finished) : std::next(each);
  make_room(finished);
  std::ranges::sort(finished, {}, &SpanTrace::begin_ns);
  return finished;
}

std::vector<SpanTrace> TraceAssembly::take_all() { return take_finished(Instant::max()); }

}  // namespace pcp::trace::command
