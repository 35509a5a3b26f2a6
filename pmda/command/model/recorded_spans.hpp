// SPDX-License-Identifier: LGPL-2.1-or-later
// Assembles the spans of archives into traces, in bounded memory.
//
// Thread: one.
#pragma once

#include <functional>
#include <optional>

#include "base/result.hpp"
#include "command/model/archive_reader.hpp"
#include "command/model/model.hpp"

namespace pcp::trace::command {

// Hands out each trace that began in the requested time. The rest of a very long trace comes later,
// marked as late. `take` returns false to stop. Returns the counts, without traces; nothing: no
// archive has spans.
Result<std::optional<RecordedSpans>> read_traces(const ReadRequest& request,
                                                 const std::function<bool(SpanTrace&&)>& take);

// The same; the result includes the slowest traces.
Result<std::optional<RecordedSpans>> read_spans(const ReadRequest& request);

}  // namespace pcp::trace::command
