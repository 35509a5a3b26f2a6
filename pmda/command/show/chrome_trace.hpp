// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans in Chrome's trace format, for ui.perfetto.dev and speedscope. On each thread, complete
// events (X) must nest; other spans become asynchronous events.
#pragma once

#include <string>
#include <vector>

#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

// Gives a valid document for any traces.
std::string chrome_trace(const std::vector<SpanTrace>& traces);

}  // namespace pcp::trace::command
