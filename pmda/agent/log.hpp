// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines for the agent's log, in PCP's form. While a DiskThread exists, no caller waits for the
// disk. Thread: any.
#pragma once

#include <string>

namespace pcp::trace::agent {

void log_info(const std::string& line);
void log_warning(const std::string& line);
void log_error(const std::string& line);

}  // namespace pcp::trace::agent
