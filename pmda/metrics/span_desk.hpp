// SPDX-License-Identifier: LGPL-2.1-or-later
// What a fetch has to know of the monitor that it is for, as far as spans go: the agent has a desk
// for those who ask for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/engine/types.hpp"
#include "collector/spans/spans.hpp"

namespace pcp::trace::agent {

struct SpanAsker {
  Spans::Monitor* monitor = nullptr;  // null: he has not asked for any
  int error = 0;                      // of PCP's, if he may not have them
  std::size_t most_bytes = 0;         // of all events that he gets at a time
};

// What the metrics tracing.control and tracing.backlog show.
struct SpanControls {
  std::string filter;
  std::uint32_t fetch_bytes = 0;
  std::uint32_t memory_bytes = 0;
  std::uint32_t idle_s = 0;
  std::uint32_t backlog = 0;
};

class SpanDesk {
 public:
  // Of the fetch that is being answered.
  virtual SpanAsker asker(Time now) = 0;
  virtual SpanControls controls() const = 0;

 protected:
  ~SpanDesk() = default;
};

}  // namespace pcp::trace::agent
