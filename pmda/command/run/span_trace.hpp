// SPDX-License-Identifier: LGPL-2.1-or-later
// The spans of a trace so far, and the trees that they form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command/pcp/span_event.hpp"

namespace pcp::trace::command {

struct SpanTrace {
  wire::TraceId id;                  // not set: an event outside any trace
  std::vector<SpanEvent> spans;      // including events, without duplicates
  std::uint64_t spans_left_out = 0;  // beyond the limit
  bool is_late = false;              // the rest was handed out before
  std::uint64_t slow_span = 0;       // for which slower= selects the trace; 0: not said

  // By span: where its parent ran, which was not captured although other parts of the trace were.
  // Empty: unknown. See torn_spans.hpp.
  std::map<std::uint64_t, std::string> torn{};
  // By span that gave its trace away: where parts run in other traces that such spans call; here is
  // none. Empty: in several services.
  std::map<std::uint64_t, std::string> lacks_part_in{};

  // Begin of the first and end of the last. Requires: there are spans.
  std::uint64_t begin_ns() const;
  std::uint64_t end_ns() const;

  // The duration of the longest transaction that is inside of no other one here: of the request.
  // Parts of it may go on after its end. 0: there are only events.
  std::uint64_t request_ns() const;
};

// A span or an event in its tree.
struct Node {
  const SpanEvent* span;
  const SpanEvent* parent;  // null: top level, because it has no parent or the parent is missing
  std::size_t depth;

  bool lacks_parent() const { return parent == nullptr && !span->is_event() && span->parent != 0; }
};

// The entry of SpanTrace::torn, unless the parent has come later; null if there is none.
const std::string* torn_from(const SpanTrace& trace, const Node& node);

// The entry of SpanTrace::lacks_part_in; null if there is none.
const std::string* lacks_part_in(const SpanTrace& trace, const Node& node);

// All nodes of a trace, parents before children, siblings in order of time. Each span appears once,
// even with invalid parents.
std::vector<Node> nodes_of(const SpanTrace& trace);

// Transactions of a trace that were open when a process died.
struct OpenRequest {
  SpanEvent outermost;  // of all processes that died, the one that was open for longest
  SpanEvent last;  // inside it in its process, the one that began last; the same: none is inside
};

std::optional<OpenRequest> open_request(const std::vector<Node>& nodes);

}  // namespace pcp::trace::command
