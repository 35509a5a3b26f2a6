// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans as a monitor gets them from the agent's store.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "metrics/event_array.hpp"

namespace pcp::trace::agent {

inline SpanReading reading_of(const std::vector<StoredSpan>& spans, std::uint64_t missed = 0) {
  SpanReading reading;
  reading.is_all = true;
  for (const StoredSpan& span : spans) {
    const std::uint64_t number = reading.to.next_number++;
    reading.to.next_key = number + 1;
    reading.entries.push_back({number, number, std::make_shared<const StoredSpan>(span)});
  }
  reading.to.missed = missed;
  return reading;
}

}  // namespace pcp::trace::agent
