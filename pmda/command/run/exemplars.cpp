// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/exemplars.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "command/run/slowest_traces.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

// Four sizes for each power of two: durations of one size are within a fifth of each other.
std::size_t size_of(std::uint64_t ns) {
  const auto power = static_cast<unsigned>(std::bit_width(ns));
  const std::uint64_t quarter = power > 3 ? ns >> (power - 3) & 3 : 0;
  return 1 + 4 * power + static_cast<std::size_t>(quarter);
}

const SpanEvent* first_span(const SpanTrace& trace) {
  const SpanEvent* first = nullptr;
  for (const SpanEvent& each : trace.spans)
    if (!each.is_event() && (first == nullptr || each.begin_ns < first->begin_ns)) first = &each;
  return first;
}

bool has_failed(const SpanTrace& trace) {
  return std::ranges::any_of(trace.spans,
                             [](const SpanEvent& span) { return span.aborted || span.was_open(); });
}

}  // namespace

void Exemplars::add(const SpanTrace& trace) {
  if (trace.is_late || first_span(trace) == nullptr) return;
  const std::uint64_t duration_ns = trace.request_ns();
  std::shared_ptr<SpanTrace> copy;
  const auto offer = [&](const Group& group) {
    Kept& kept = kept_[group];
    if (kept.trace && kept.duration_ns >= duration_ns) return;
    if (!copy) {
      copy = std::make_shared<SpanTrace>(trace);
      trim(*copy, kSpansOfOne, kBytesOfOne);
    }
    kept = {duration_ns, copy};
  };
  const Group moment{tag_of(trace), 1 + moment_of(trace)};
  offer(moment);
  if (has_failed(trace)) offer({moment.tag, moment.moment, 0, true});
  offer({0, 0, size_of(duration_ns)});
}

std::size_t Exemplars::tag_of(const SpanTrace& trace) {
  const std::string tag(bare_name(first_span(trace)->tag));
  if (const auto known = tags_.find(tag); known != tags_.end()) return known->second;
  if (tags_.size() + 1 >= kTags) return kTags;
  return tags_.emplace(tag, tags_.size() + 1).first->second;
}

std::size_t Exemplars::moment_of(const SpanTrace& trace) const {
  if (length_.count() <= 0) return 0;
  const WallTime end{std::chrono::nanoseconds(trace.end_ns())};
  const double share = std::chrono::duration<double>(end - begin_) / length_;
  const double moment = share * static_cast<double>(kMoments);
  return static_cast<std::size_t>(std::clamp(moment, 0.0, static_cast<double>(kMoments - 1)));
}

std::vector<SpanTrace> Exemplars::take(const std::vector<SpanTrace>& others) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (const SpanTrace& each : others) taken.emplace(each.id.high, each.id.low);
  std::vector<SpanTrace> all;
  for (const auto& [group, kept] : kept_)
    if (taken.emplace(kept.trace->id.high, kept.trace->id.low).second) all.push_back(*kept.trace);
  kept_.clear();
  std::ranges::sort(all, {}, [](const SpanTrace& each) { return each.begin_ns(); });
  return all;
}

}  // namespace pcp::trace::command
