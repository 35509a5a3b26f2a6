// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells a fetch about the spans for its monitor. The agent implements SpanDesk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/engine/types.hpp"
#include "collector/spans/shared_spans.hpp"

namespace pcp::trace::agent {

struct SpanAsker {
  SharedSpans::Subscription* monitor = nullptr;  // null: no capture
  int error = 0;                                 // a PCP error if the monitor may not have spans
  std::size_t most_bytes = 0;                    // limit of events per fetch
};

// The values of the metrics tracing.control, tracing.backlog and tracing.lapses.
struct SpanControls {
  std::string filter;
  std::uint32_t fetch_bytes = 0;
  std::uint32_t memory_bytes = 0;
  std::uint32_t idle_s = 0;
  std::uint32_t backlog = 0;
  std::uint32_t lapses = 0;
};

class SpanDesk {
 public:
  // For the fetch being answered.
  virtual SpanAsker asker(Instant now) = 0;
  virtual SpanControls controls() const = 0;
  // The traces that programs want whole for this monitor, as text; each once.
  virtual std::string take_wanted() { return {}; }

 protected:
  ~SpanDesk() = default;
};

}  // namespace pcp::trace::agent
