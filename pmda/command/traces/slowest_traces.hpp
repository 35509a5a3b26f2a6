// SPDX-License-Identifier: LGPL-2.1-or-later
// The slowest traces of many, in little memory, each with the spans that matter most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "command/traces/span_trace.hpp"

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

  // Requires: there are spans in it, or events.
  void add(SpanTrace trace);

  // Gives them all, the slowest first.
  std::vector<SpanTrace> take();

 private:
  bool add_to_known(SpanTrace& late);

  const Limits limits_;
  std::multimap<std::uint64_t, SpanTrace> by_duration_;
};

// Leaves so many spans of a trace, and their bytes, and counts the others: those that take longest
// with all that they are a part of, and those that tell when it began and ended.
void trim(SpanTrace& trace, std::size_t most_spans, std::size_t most_bytes);

}  // namespace pcp::trace::command
