// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the older runs of `report --compare`, and compares them with the newer ones.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "command/report/report_options.hpp"
#include "command/run/archive_reader.hpp"
#include "command/run/comparison.hpp"

namespace pcp::trace::command {

// Sets the model's base. Nothing: no comparison is requested. `now` is the request for the model,
// which has series, and must outlive the comparison.
Result<std::optional<Comparison>> compare_runs(const ReportOptions& options, const ReadRequest& now,
                                               Model& model);

}  // namespace pcp::trace::command
