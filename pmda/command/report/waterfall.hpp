// SPDX-License-Identifier: LGPL-2.1-or-later
// A trace for people, in a terminal: a line for each span, and a bar where it is in time.
#pragma once

#include <string>

#include "command/report/shown.hpp"
#include "command/traces/span_trace.hpp"

namespace pcp::trace::command {

// Requires: there are spans.
std::string waterfall(const SpanTrace& trace, const Shown& shown);

}  // namespace pcp::trace::command
