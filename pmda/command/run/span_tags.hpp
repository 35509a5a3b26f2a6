// SPDX-License-Identifier: LGPL-2.1-or-later
// Captured transactions tell how long the longest of each tag was, and which tags are nested.
//
// Thread: one.
#pragma once

#include <map>
#include <string>

#include "command/run/label_choice.hpp"
#include "command/run/model.hpp"
#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

class SpanTags {
 public:
  void add(const SpanTrace& trace);

  // Moves what was learned into the result. Nothing may be added afterwards.
  void finish(RecordedSpans& spans);

 private:
  std::map<std::string, LongestSpan> longest_;
  std::map<std::string, bool> is_nested_;
};

// Captured transactions of tags that were added up count for the sum.
void group_span_tags(RecordedSpans& spans, const LabelChoice& choice);

}  // namespace pcp::trace::command
