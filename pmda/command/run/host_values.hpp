// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's own metrics of hosts, which `record --also` has added to recordings.
//
// Thread: one.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "command/pcp/archive_changes.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

// Reads the values in a window of time from these archives. Several of the same host, metric and
// instance are one. `grid`: of the points of those that a page shows; null: no points.
Result<std::vector<HostValue>> read_host_values(const std::vector<std::string>& archives,
                                                const Window& window, const Grid* grid);

// A unit of PCP's as a factor, and in words: 1024 and "bytes" for Kbyte.
struct PlainUnit {
  double factor = 1;
  std::string words;
};
// `is_rate`: of the growth by seconds.
PlainUnit plain_unit(const pmUnits& units, bool is_rate);

}  // namespace pcp::trace::command
