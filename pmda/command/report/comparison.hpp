// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares two runs in a terminal: what became slower or faster, and by how much.
#pragma once

#include <string>

#include "command/model/model.hpp"
#include "command/report/shown.hpp"

namespace pcp::trace::command {

// Lines end with a newline. `base` is the older run.
std::string comparison(const Totals& base, const Totals& now, const Terminal& terminal);

}  // namespace pcp::trace::command
