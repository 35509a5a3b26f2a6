// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/page/page_heat.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace pcp::trace::command {

std::vector<TimedHistogram> heat_columns(const std::vector<TimedHistogram>& histograms) {
  std::vector<TimedHistogram> columns;
  if (histograms.empty()) return columns;
  const Moment begin = histograms.front().begin;
  const auto slot_length =
      (histograms.back().end - begin) / static_cast<std::int64_t>(kMaxHeatColumns) +
      std::chrono::nanoseconds(1);
  const bool are_few = histograms.size() <= kMaxHeatColumns;
  std::optional<std::int64_t> last_slot;
  for (const TimedHistogram& each : histograms) {
    if (each.values.empty()) continue;
    const std::int64_t slot = are_few ? -1 : (each.begin - begin) / slot_length;
    if (are_few || last_slot != slot) {
      columns.push_back(each);
    } else {
      columns.back().end = each.end;
      columns.back().values.merge(each.values);
    }
    last_slot = slot;
  }
  for (TimedHistogram& column : columns) column.values.coarsen_to(kHeatCoarseness);
  return columns;
}

}  // namespace pcp::trace::command
