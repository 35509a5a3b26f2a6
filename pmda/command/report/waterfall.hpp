// SPDX-License-Identifier: LGPL-2.1-or-later
// A trace for people, in a terminal: a line for each span, and a bar where it is in time.
#pragma once

#include <cstddef>
#include <string>

#include "command/report/shown.hpp"
#include "command/traces/span_trace.hpp"

namespace pcp::trace::command {

inline constexpr std::size_t kMostSpanLines = 200;

// Of so many spans. Requires: there are some.
std::string waterfall(const SpanTrace& trace, const Shown& shown,
                      std::size_t most_spans = kMostSpanLines);

}  // namespace pcp::trace::command
