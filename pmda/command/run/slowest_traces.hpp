// SPDX-License-Identifier: LGPL-2.1-or-later
// The slowest of many traces, in bounded memory, each with its most important spans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

class SlowestTraces {
 public:
  struct Limits {
    std::size_t traces = 50;
    std::size_t spans_of_one = 300;
    std::size_t bytes_of_one = 128u << 10;
  };

  SlowestTraces() : SlowestTraces(Limits()) {}
  explicit SlowestTraces(const Limits& limits) : limits_(limits) {}

  // Requires: the trace has spans or events.
  void add(SpanTrace trace);

  // Gives all traces, the slowest first.
  std::vector<SpanTrace> take();

 private:
  bool add_to_known(SpanTrace& late);

  const Limits limits_;
  std::multimap<std::uint64_t, SpanTrace> by_duration_;
};

// Cuts a trace to these limits and counts the rest. Kept are the first, the last and the longest
// spans, with their ancestors.
void trim(SpanTrace& trace, std::size_t most_spans, std::size_t most_bytes);

}  // namespace pcp::trace::command
