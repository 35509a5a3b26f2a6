// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a model of a run from its archives. They are read twice: first for the totals of all tags,
// then for the course of the most important ones. So an hour of 10,000 tags needs little memory.
//
// Thread: one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/pcp/archive_changes.hpp"
#include "command/run/exemplars.hpp"
#include "command/run/label_choice.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

struct ReadRequest {
  std::vector<std::string> archives;  // names in PCP's form
  Window window;
  std::string time_zone;  // copied into the model
  LabelChoice choice{};
  bool are_runs = false;             // each archive is a run of its own, not a part of one
  std::optional<Ending> times_of{};  // the only calls whose times are wanted
};

// Without series and single transactions.
Result<Totals> read_totals(const ReadRequest& request);

// Series are only needed for the page.
Result<Model> read_model(const ReadRequest& request, bool with_series = true);

// Without single transactions.
Result<Model> read_course(const ReadRequest& request);

// Assembles the spans of the archives into traces, in bounded memory, and hands out each trace that
// began in the requested time. The rest of a very long trace comes later, marked as late. `take`
// returns false to stop. Returns the counts, without traces; nothing: no archive has spans.
Result<std::optional<RecordedSpans>> read_traces(const ReadRequest& request,
                                                 const std::function<bool(SpanTrace&&)>& take);

// The same; the result includes the slowest traces. `exemplars`: gets all traces if it is not null.
Result<std::optional<RecordedSpans>> read_spans(const ReadRequest& request,
                                                Exemplars* exemplars = nullptr);

// Adds what a trace tells of its tags: the longest spans, of those with this end, and which tags
// are nested.
void note_tags(RecordedSpans& spans, const SpanTrace& trace, std::optional<Ending> times_of = {});

// Captured transactions of tags that were added up count for the sum.
void group_span_tags(RecordedSpans& spans, const LabelChoice& choice);

}  // namespace pcp::trace::command
