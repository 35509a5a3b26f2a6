// SPDX-License-Identifier: LGPL-2.1-or-later
// The slowest and the failed requests beside all others, for a terminal and in Markdown.
#pragma once

#include <cstddef>
#include <string>

#include "command/run/model.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

// Three or more lines for each group, of the tags with the most time. The first line is empty.
std::string why_slow(const RecordedSpans& spans, const Shown& shown, std::size_t most_tags);

std::string why_slow_markdown(const RecordedSpans& spans, const Shown& shown);

}  // namespace pcp::trace::command
