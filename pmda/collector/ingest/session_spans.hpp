// SPDX-License-Identifier: LGPL-2.1-or-later
// What a session was told to capture, and what it has said of that; SpanIntake keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "collector/engine/types.hpp"
#include "collector/spans/stored_span.hpp"
#include "wire/events.hpp"

namespace pcp::trace::agent {

// The counts of a capture that a session has reported.
struct CaptureSaid {
  Time told_at{};           // since when it may say something
  wire::CaptureCount last;  // what it said last
  std::uint64_t taken = 0;  // of all that it ever said
};

struct SessionSpans {
  std::uint64_t last_events = 0;    // sequence
  std::uint64_t told = 0;           // the number that it was told last; 0: none
  bool knows_some = false;          // captures were among that
  std::uint32_t most_a_second = 0;  // as it was told
  std::uint64_t round = 0;          // in which it has sent spans last
  std::shared_ptr<const SpanSource> source;
  std::map<std::uint64_t, CaptureSaid> said;  // by the capture's id
};

}  // namespace pcp::trace::agent
