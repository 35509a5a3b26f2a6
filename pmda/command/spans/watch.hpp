// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches hosts: hands out each finished trace, and reports problems on standard error.
//
// Thread: the main one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "command/interruption.hpp"
#include "command/run/span_trace.hpp"
#include "command/run/trace_assembly.hpp"
#include "command/spans/spans_options.hpp"

namespace pcp::trace::command {

// Totals of watching.
struct Watched {
  std::uint64_t traces = 0;
  std::uint64_t others = 0;   // traces that were captured, but did not match
  std::uint64_t spans = 0;    // including events
  std::uint64_t missed = 0;   // including events
  bool has_gap = false;       // more are missing, in unknown number
  std::uint64_t waiting = 0;  // not fetched at the end; 0 if enough traces came
  bool was_possible = true;   // false: no host had spans for us
};

// For traces that such a filter captures, which must outlive them.
TraceAssembly::Limits limits_for(const wire::CaptureFilter& filter);

// `take` returns false to stop. `note_end` learns which host has no spans for us.
Watched watch(const WatchOptions& options, Interruption& interruption, const char* word,
              const std::function<bool(const SpanTrace&)>& take,
              const std::function<void(std::size_t)>& note_end = {});

// Reports the totals on standard error if it is a terminal, and missed spans in any case.
void tell_of(const Watched& watched, const char* word);

}  // namespace pcp::trace::command
