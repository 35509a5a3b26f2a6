// SPDX-License-Identifier: LGPL-2.1-or-later
// The archives and the time range of a report, and the older runs of --compare.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "command/report/report_options.hpp"
#include "command/run/archive_reader.hpp"
#include "command/run/comparison.hpp"

namespace pcp::trace::command {

// Resolves -S, -T, -A and -O for archives from `begin` to `end`.
Result<Window> parse_window(const ReportOptions& options, WallTime begin, WallTime end);

// The archives and the time range to read. Makes PCP show times in the requested zone.
Result<ReadRequest> make_request(const ReportOptions& options);

// Sets the model's base. Nothing: no comparison is requested. `now` is the request for the model,
// which has series, and must outlive the comparison.
Result<std::optional<Comparison>> compare_runs(const ReportOptions& options, const ReadRequest& now,
                                               Model& model);

}  // namespace pcp::trace::command
