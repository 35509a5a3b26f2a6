// SPDX-License-Identifier: LGPL-2.1-or-later
// The slowest and the failed requests beside all others, for a terminal and in Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/run/requests.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

// Up to three lines for each group, of the tags with the most time. The first line is empty.
std::string why_slow(const std::vector<Requests>& all, const Shown& shown, std::size_t most_tags);

std::string why_slow_markdown(const std::vector<Requests>& all, const Shown& shown);

}  // namespace pcp::trace::command
