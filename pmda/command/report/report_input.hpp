// SPDX-License-Identifier: LGPL-2.1-or-later
// Which archives a report is of, and which part of them.
#pragma once

#include <string>
#include <vector>

#include "command/model/archive_changes.hpp"
#include "command/model/archive_reader.hpp"
#include "command/report/report_options.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

// The archive, as PCP has its name, that somebody means by this.
Result<std::string> find_archive(const std::string& name);

// Whether it is one of these, by this name or another.
bool is_among(const std::vector<std::string>& archives, const std::string& archive);

// The newest recording in this directory.
Result<std::string> newest_recording(const std::string& directory);

// What to read. Makes PCP show times in the zone that is wanted.
Result<ReadRequest> make_request(const ReportOptions& options);

}  // namespace pcp::trace::command
