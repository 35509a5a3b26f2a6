// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines for the agent's log, in PCP's form. Nobody waits for a disk to write them as long as there
// is a DiskThread. Thread: any.
#pragma once

#include <string>

namespace pcp::trace::agent {

void log_info(const std::string& line);
void log_warning(const std::string& line);
void log_error(const std::string& line);

}  // namespace pcp::trace::agent
