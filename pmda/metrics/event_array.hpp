// SPDX-License-Identifier: LGPL-2.1-or-later
// Packs spans as PCP's event records: a START and an END for each span, a POINT for each event, in
// order of time, after a record with the number of missed ones. Padding is initialized.
#pragma once

#include <cstddef>
#include <memory>

#include "collector/engine/types.hpp"
#include "collector/spans/span_store.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

// The minimum size of the records of a span or an event.
inline constexpr std::size_t kLeastEventBytes = 100;

class EventArray {
 public:
  // Packs the first spans that fit into `most_bytes`, and at least one. `wall` is the time of the
  // record of missed spans if there are no others.
  EventArray(int domain, const SpanReading& reading, std::size_t most_bytes, WallTime wall);

  // Valid as long as this object.
  pmValueBlock* get() const { return reinterpret_cast<pmValueBlock*>(memory_.get()); }

  std::size_t taken() const { return taken_; }

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t taken_ = 0;
};

}  // namespace pcp::trace::agent
