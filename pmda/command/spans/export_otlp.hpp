// SPDX-License-Identifier: LGPL-2.1-or-later
// `pcp-trace export --otlp`: from hosts as long as it runs, or from archives.
//
// Thread: the main one.
#pragma once

#include <string>

#include "command/spans/spans_options.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

// kExportImpossible: wrong usage, or unreadable archives.
enum ExportStatus { kExported = 0, kExportFailed = 1, kExportImpossible = 2 };

inline int fail_export(const std::string& why, ExportStatus status) {
  complain("export", why);
  return status;
}

int export_otlp(const ExportOptions& options);

}  // namespace pcp::trace::command
