// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans in Chrome's trace format, as ui.perfetto.dev and speedscope open it. That has processes and
// threads, and on a thread what is complete (X) must nest; spans that do not are asynchronous
// there.
#pragma once

#include <string>
#include <vector>

#include "command/traces/span_trace.hpp"

namespace pcp::trace::command {

// A document, whatever the traces are.
std::string chrome_trace(const std::vector<SpanTrace>& traces);

}  // namespace pcp::trace::command
