// SPDX-License-Identifier: LGPL-2.1-or-later
// What has come of a trace, and the trees that it makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "command/traces/span_event.hpp"

namespace pcp::trace::command {

struct SpanTrace {
  wire::TraceId id;              // not set: an event that belongs to none
  std::vector<SpanEvent> spans;  // and events, none of them twice
  std::uint64_t left_out = 0;    // there were too many
  bool is_late = false;          // the rest was shown before

  // When the first begins and the last ends. Requires: there are some.
  std::uint64_t begin_ns() const;
  std::uint64_t end_ns() const;
};

// A span or an event at its place.
struct Node {
  const SpanEvent* span;
  const SpanEvent* parent;  // null: it is at the top, for it has none, or none that has come
  std::size_t depth;
};

// All of a trace, from the top down, each before what is below it; side by side in the order of
// time. Whatever parents programs claim, each is there once.
std::vector<Node> nodes_of(const SpanTrace& trace);

}  // namespace pcp::trace::command
