// SPDX-License-Identifier: LGPL-2.1-or-later
// The words of a filter that a whole trace decides: trace=ID, note.KEY=PATTERN, label.KEY=PATTERN,
// failed, wanted and died. The last three programs and the agent decide, too, but older ones
// capture more. For recordings also the other words that programs decide when they capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/run/recent_traces.hpp"
#include "command/run/span_trace.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

// True if a filter with slower= selects this transaction.
bool is_slow(const SpanEvent& span, const wire::CaptureFilter& filter);

// The transaction for which a filter with slower= selects this trace: the first one to begin; 0:
// none, or another filter.
std::uint64_t slow_span(const SpanTrace& trace, const wire::CaptureFilter& filter);

struct TraceFilter {
  struct Note {
    bool is_label = false;  // of the tag at its end
    std::string key;
    Glob value;
  };

  std::uint32_t reasons = 0;                    // wire::kIfFailed, kIfWanted, kIfDied
  std::string trace_id{};                       // its first digits; empty: any
  std::vector<Note> notes;                      // all of them
  std::optional<wire::CaptureFilter> captured;  // nothing: programs decide this part

  // Takes these words out of a filter's words.
  Result<void> take_from(std::vector<std::string>& words);

  // True if the trace has that id, and a transaction or event of it matches `captured`, and it or
  // one inside it has each reason and each note.
  bool matches(const SpanTrace& trace) const;

 private:
  using Marks = std::uint64_t;  // reasons, and a bit for each note
  static constexpr Marks kFirstNote = wire::kAllReasons + 1;

  Marks all_marks() const;
  Marks marks_of(const SpanEvent& span) const;
  bool may_be_of(const SpanEvent& span) const;
};

// Chooses traces, one after the other: those that match, and late parts of those.
class TraceChoice {
 public:
  explicit TraceChoice(const TraceFilter& filter) : filter_(filter) {}

  bool takes(const SpanTrace& trace) {
    const RecentTraces::Id id{trace.id.high, trace.id.low};
    if (!filter_.matches(trace) && !(trace.is_late && chosen_.contain(id))) return false;
    chosen_.add(id);
    return true;
  }

 private:
  const TraceFilter& filter_;
  RecentTraces chosen_;
};

}  // namespace pcp::trace::command
