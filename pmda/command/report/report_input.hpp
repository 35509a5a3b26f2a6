// SPDX-License-Identifier: LGPL-2.1-or-later
// The archives and the time range of a report.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/model/archive_changes.hpp"
#include "command/model/archive_reader.hpp"
#include "command/report/report_options.hpp"

namespace pcp::trace::command {

// The archive, named in PCP's form, for an argument (archive or folder).
Result<std::string> find_archive(const std::string& name);

// True if `archive` is in the list, by any of its names.
bool is_among(const std::vector<std::string>& archives, const std::string& archive);

// The folders of a directory that have a recording, the newest first.
std::vector<std::string> recordings_in(const std::string& directory);

// The newest recording in a directory.
Result<std::string> newest_recording(const std::string& directory);

// The archives and the time range to read. Makes PCP show times in the requested zone.
Result<ReadRequest> make_request(const ReportOptions& options);

}  // namespace pcp::trace::command
