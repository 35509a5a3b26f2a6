// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/span_summary.hpp"

#include <algorithm>
#include <cstddef>

#include "command/report/waterfall.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostTrees = 3;
constexpr std::size_t kMostSpansOfATree = 15;

}  // namespace

std::string span_counts(const RecordedSpans& spans, const Shown& shown) {
  const std::string what = spans.traces == 0 ? "no traces"
                                             : Shown::counted(spans.traces, "trace") + ", " +
                                                   Shown::counted(spans.spans, "span");
  const bool is_all = spans.missed == 0 && !spans.has_gap;
  return shown.faint("captured ") + what +
         (is_all ? "" : "; " + Shown::missed(spans.missed, spans.has_gap)) + "\n";
}

std::string span_summary(const RecordedSpans& spans, const Shown& shown) {
  std::string text = span_counts(spans, shown);
  const std::size_t trees = std::min(spans.slowest.size(), kMostTrees);
  for (std::size_t i = 0; i < trees; ++i)
    text += "\n" + waterfall(spans.slowest[i], shown, kMostSpansOfATree);
  return text;
}

}  // namespace pcp::trace::command
