// SPDX-License-Identifier: LGPL-2.1-or-later
// The captures that a session was told, and its reports about them, kept by SpanIntake.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "collector/engine/types.hpp"
#include "collector/spans/stored_span.hpp"
#include "wire/events.hpp"

namespace pcp::trace::agent {

// A session's reported counts of one capture.
struct CaptureSaid {
  Instant told_at{};        // since when reports are possible
  wire::CaptureCount last;  // the last report
  std::uint64_t taken = 0;  // sum of all reports
};

struct SessionSpans {
  std::uint64_t last_events = 0;    // sequence of the last EVENTS
  std::uint64_t told = 0;           // number of the last CONTROL; 0: none
  bool knows_some = false;          // that CONTROL had captures
  std::uint32_t most_a_second = 0;  // the limit in that CONTROL
  std::uint64_t round = 0;          // round in which it last sent spans
  std::shared_ptr<const SpanSource> source;
  std::map<std::uint64_t, CaptureSaid> said;  // by the capture's id
};

}  // namespace pcp::trace::agent
