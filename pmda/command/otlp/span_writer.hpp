// SPDX-License-Identifier: LGPL-2.1-or-later
// A trace as OTLP's spans: transactions are spans, and events within them are the spans' events.
// Events outside of the trace's transactions are left out.
#pragma once

#include "command/otlp/otlp_writer.hpp"
#include "command/run/span_trace.hpp"

namespace pcp::trace::command::otlp {

Piece spans_of(const SpanTrace& trace);

}  // namespace pcp::trace::command::otlp
