// SPDX-License-Identifier: LGPL-2.1-or-later
// Explains a recording without spans, if a wrong name is the cause.
#pragma once

#include <string>
#include <vector>

#include "command/run/model.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

// A line with names of existing tags. Empty if the filter matches one of them, or if there are
// none.
std::string unmatched_filter(const std::string& filter, const std::vector<Tag>& tags,
                             const Shown& shown);

}  // namespace pcp::trace::command
