// SPDX-License-Identifier: LGPL-2.1-or-later
// A captured transaction or event, as the program's threads make it.
#pragma once

#include <cstdint>
#include <memory>

#include "spans/capture_set.hpp"
#include "spans/span_notes.hpp"
#include "spans/trace_context.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

struct CapturedSpan {
  const Tag* tag = nullptr;
  std::unique_ptr<SpanNotes> notes{};  // null: none
  TraceContext context{};              // with its capture bits
  std::uint64_t begin_ns = 0;          // by the monotonic clock
  std::uint64_t duration_ns = 0;       // of spans
  double value = 0;                    // of events
  CaptureSet::Epoch epoch = 0;         // of the set that defines its bits
  std::uint32_t tid = 0;
  wire::SpanKind kind = wire::SpanKind::Internal;
  bool aborted = false;

  CaptureBits capture_bits() const { return context.capture_bits(); }

  // The id of the transaction around it; 0: none.
  std::uint64_t around() const {
    return wire::is_event(kind) ? context.outgoing() : context.parent;
  }
};

}  // namespace pcp::trace::client
