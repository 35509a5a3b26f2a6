// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/page_heat.hpp"

namespace pcp::trace::command {

std::vector<TimedHistogram> heat_columns(const std::vector<TimedHistogram>& histograms) {
  const std::size_t merged = (histograms.size() + kMaxHeatColumns - 1) / kMaxHeatColumns;
  std::vector<TimedHistogram> columns;
  for (std::size_t i = 0; i < histograms.size(); ++i) {
    const TimedHistogram& each = histograms[i];
    if (each.values.empty()) continue;
    // A column never reaches over a time of which nothing is known.
    const bool begins_anew = columns.empty() || i % merged == 0 || columns.back().end != each.begin;
    if (begins_anew) {
      columns.push_back(each);
    } else {
      columns.back().end = each.end;
      columns.back().values.merge(each.values);
    }
  }
  for (TimedHistogram& column : columns) column.values.coarsen_to(kHeatCoarseness);
  return columns;
}

}  // namespace pcp::trace::command
