// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/least_maxima.hpp"

#include <optional>

namespace pcp::trace::command {

namespace {

void raise(Tag& tag, double value, const std::optional<Moment>& at) {
  if (tag.max && (tag.max->is_exact || tag.max->value >= value)) return;
  tag.max = Extreme{value, false};
  if (tag.slowest && tag.slowest->value < value) tag.slowest = SlowestMoment{at, value, false};
}

}  // namespace

void raise_to_distribution(Tag& tag) {
  if (!tag.distribution || tag.distribution->empty()) return;
  const double least = tag.distribution->quantile_edges(1).least;
  if (least > 0) raise(tag, least, {});
}

void raise_to_spans(Totals& totals, const RecordedSpans& spans) {
  for (Tag& tag : totals.tags) {
    if (tag.type != TraceType::Transact || tag.calls == 0) continue;
    const auto found = spans.longest.find(tag.name);
    if (found == spans.longest.end()) continue;
    const LongestSpan& longest = found->second;
    if (longest.end >= totals.run.begin && longest.end <= totals.run.end)
      raise(tag, static_cast<double>(longest.duration_ns) / 1e9, longest.end);
  }
}

}  // namespace pcp::trace::command
