// SPDX-License-Identifier: LGPL-2.1-or-later
// Packs spans as PCP's event records: a START and an END for each, a POINT for each event; in the
// order of their time, after a record that says how many were missed. All bytes are set, also those
// between two values.
#pragma once

#include <pcp/pmapi.h>

#include <cstddef>
#include <memory>

#include "collector/engine/types.hpp"
#include "collector/spans/span_store.hpp"

namespace pcp::trace::agent {

// What the records of a span or an event take at least.
inline constexpr std::size_t kLeastEventBytes = 100;

class EventArray {
 public:
  // Packs as many of the first spans as take no more than so many bytes, and one in any case.
  // `wall` is the time of what was missed, where nothing else is.
  EventArray(int domain, const SpanReading& reading, std::size_t most_bytes, Time wall);

  // As long as this is there.
  pmValueBlock* get() const { return reinterpret_cast<pmValueBlock*>(memory_.get()); }

  std::size_t taken() const { return taken_; }

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t taken_ = 0;
};

}  // namespace pcp::trace::agent
