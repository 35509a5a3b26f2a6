// SPDX-License-Identifier: LGPL-2.1-or-later
// The spans of a trace so far, and the trees that they form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "command/pcp/span_event.hpp"

namespace pcp::trace::command {

struct SpanTrace {
  wire::TraceId id;              // not set: an event outside any trace
  std::vector<SpanEvent> spans;  // including events, without duplicates
  std::uint64_t left_out = 0;    // spans beyond the limit
  bool is_late = false;          // the rest was handed out before

  // Begin of the first and end of the last. Requires: there are spans.
  std::uint64_t begin_ns() const;
  std::uint64_t end_ns() const;
};

// A span or an event in its tree.
struct Node {
  const SpanEvent* span;
  const SpanEvent* parent;  // null: top level, because it has no parent or the parent is missing
  std::size_t depth;
};

// All nodes of a trace, parents before children, siblings in order of time. Each span appears once,
// even with invalid parents.
std::vector<Node> nodes_of(const SpanTrace& trace);

}  // namespace pcp::trace::command
