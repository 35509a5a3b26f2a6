// SPDX-License-Identifier: LGPL-2.1-or-later
// The single transactions of recordings, for `spans -a` and `export -a`.
//
// Thread: the main one.
#pragma once

#include <functional>
#include <optional>

#include "base/result.hpp"
#include "command/run/model.hpp"
#include "command/run/span_trace.hpp"
#include "command/spans/spans_options.hpp"

namespace pcp::trace::command {

// Torn: what is torn is marked, for which all is read twice.
enum class Marks { None, Torn };

// Hands out each trace that matches, until `take` returns false or there are enough. Gives the
// counts of all that it read; nothing: no recording has single transactions.
Result<std::optional<RecordedSpans>> read_recorded(const WatchOptions& options, Marks marks,
                                                   const std::function<bool(SpanTrace&&)>& take);

// Says on standard error that there are none, and what to do.
void tell_that_none_are_recorded(const WatchOptions& options, const char* word);

// Reports on standard error what the recordings lack.
void tell_what_is_missing(const RecordedSpans& spans, const char* word);

}  // namespace pcp::trace::command
