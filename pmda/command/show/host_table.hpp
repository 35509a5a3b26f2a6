// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's own metrics of hosts, for a terminal: a line for each value.
#pragma once

#include <string>
#include <vector>

#include "command/run/model.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

// Begins with an empty line. Each metric has its greatest values; empty: there are none.
std::string host_table(const std::vector<HostValue>& values, const Shown& shown);

}  // namespace pcp::trace::command
