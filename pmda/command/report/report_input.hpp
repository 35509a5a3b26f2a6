// SPDX-License-Identifier: LGPL-2.1-or-later
// The archives and the time range of a report.
#pragma once

#include "base/result.hpp"
#include "command/report/report_options.hpp"
#include "command/run/archive_reader.hpp"

namespace pcp::trace::command {

// The archives and the time range to read. Makes PCP show times in the requested zone.
Result<ReadRequest> make_request(const ReportOptions& options);

}  // namespace pcp::trace::command
