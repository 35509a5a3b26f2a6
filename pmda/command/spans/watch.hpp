// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches hosts until enough has been seen: hands out each trace when it is finished, and says on
// standard error what one has to know meanwhile.
//
// Thread: the main one.
#pragma once

#include <cstdint>
#include <functional>

#include "command/record/interruption.hpp"
#include "command/spans/spans_options.hpp"
#include "command/traces/span_trace.hpp"

namespace pcp::trace::command {

// What was seen in all.
struct Watched {
  std::uint64_t traces = 0;
  std::uint64_t spans = 0;   // and events
  std::uint64_t missed = 0;  // likewise
  bool has_gap = false;      // more are missing, and nobody knows how many
  bool was_possible = true;  // else no host had spans for us
};

// `take` gives false if there is no sense in going on.
Watched watch(const WatchOptions& options, Interruption& interruption, const char* word,
              const std::function<bool(const SpanTrace&)>& take);

// Says on standard error what was seen, if somebody reads it, and what was missed in any case.
void tell_of(const Watched& watched, const char* word);

}  // namespace pcp::trace::command
