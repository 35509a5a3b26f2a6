// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side, for people at a terminal.
#pragma once

#include <string>
#include <vector>

#include "command/run/comparison.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

// Shows what became slower or faster than in an older run, and by how much. Lines end with a
// newline. `by`: the labels of --by.
std::string shown_comparison(const Totals& base, const Totals& now, const Comparison& comparison,
                             const Terminal& terminal, const std::vector<std::string>& by = {});

}  // namespace pcp::trace::command
