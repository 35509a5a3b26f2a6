// SPDX-License-Identifier: LGPL-2.1-or-later
// A report as GitHub-flavoured Markdown, for the comment of a pipeline: at most some dozens of tags
// and findings.
#pragma once

#include <string>
#include <vector>

#include "command/run/comparison.hpp"
#include "command/show/condition.hpp"

namespace pcp::trace::command {

std::string markdown(const Model& run, const std::vector<Condition::Finding>& findings);

std::string markdown(const Totals& base, const Totals& now, const Comparison& comparison,
                     const std::vector<Condition::Finding>& findings);

// Any text as code, which cannot end it, be markup or mention anybody.
std::string markdown_code(std::string_view text);

}  // namespace pcp::trace::command
