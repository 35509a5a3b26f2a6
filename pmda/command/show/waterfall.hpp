// SPDX-License-Identifier: LGPL-2.1-or-later
// Single transactions in a terminal: a line per span, with a bar for its time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/run/model.hpp"
#include "command/run/span_trace.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

inline constexpr std::size_t kMostSpanLines = 200;

// Shows up to most_spans spans. Requires: there are spans.
std::string waterfall(const SpanTrace& trace, const Shown& shown,
                      std::size_t most_spans = kMostSpanLines);

// The requests that were open for longest when a process died, a line for each.
std::vector<std::string> died_requests(const Died& died, const Shown& shown);

// The command that shows all recorded traces.
std::string how_to_see_spans(const std::vector<std::string>& archives);

// The command that shows all of those requests.
inline std::string how_to_see_died(const std::vector<std::string>& archives) {
  return how_to_see_spans(archives) + " died";
}

// Both, for a terminal.
std::string died_lines(const RecordedSpans& spans, const std::vector<std::string>& archives,
                       const Shown& shown);

// The number of a run's single transactions, in one line.
std::string span_counts(const RecordedSpans& spans, const Shown& shown);

// The two slowest ones as trees, or the slowest one if there is no room for both as a whole: at
// most 20 lines. The first and the last line are empty. Then comes `more` if there are others.
std::string slowest_trees(const RecordedSpans& spans, const Shown& shown, const std::string& more);

// The number, the slowest as larger trees, and how to see all.
std::string span_summary(const RecordedSpans& spans, const std::vector<std::string>& archives,
                         const Shown& shown);

}  // namespace pcp::trace::command
