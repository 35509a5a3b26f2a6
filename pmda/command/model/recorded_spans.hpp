// SPDX-License-Identifier: LGPL-2.1-or-later
// Puts the spans of archives together to traces, in memory that does not grow with them.
//
// Thread: one.
#pragma once

#include <functional>
#include <optional>

#include "command/model/archive_reader.hpp"
#include "command/model/model.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

// Hands out each trace that began in the request's time; of one that takes very long the rest comes
// later, and says so. `take` gives false if there is no sense in going on. Gives what there was; it
// has no traces itself. Nothing: none of the archives has spans.
Result<std::optional<RecordedSpans>> read_traces(const ReadRequest& request,
                                                 const std::function<bool(SpanTrace&&)>& take);

// The slowest ones are in what it gives.
Result<std::optional<RecordedSpans>> read_spans(const ReadRequest& request);

// The same, into a model that has its totals, whose maxima it may raise.
Result<void> add_spans(const ReadRequest& request, Model& model);

}  // namespace pcp::trace::command
