// SPDX-License-Identifier: LGPL-2.1-or-later
// The trace of a transaction: what one request causes in all programs that it passes through, by
// W3C's Trace Context (level 2). The headers traceparent and tracestate carry it between programs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "spans/tracestates.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

inline constexpr std::uint64_t kSampledFlag = 1;
inline constexpr std::uint64_t kRandomFlag = 2;  // the trace's id is random
inline constexpr std::uint64_t kKnownFlags = kSampledFlag | kRandomFlag;
inline constexpr std::uint64_t kCameInFlag = 128;  // ours: its parent is in another process
inline constexpr std::uint64_t kNoRoomFlag = 64;   // ours: left out because there was no room
inline constexpr std::uint64_t kInsideOneThatCameInFlag = 32;  // ours: has no id, parent came in a
                                                               // header
inline constexpr std::uint64_t kWantedFlag = 4;    // ours: of a span that the program wants
inline constexpr std::uint64_t kLeftOutFlag = 16;  // ours: a capture left out it or its top

// Five words, stored in the memory of an open transaction.
struct TraceContext {
  std::uint64_t trace_high = 0;  // the trace's id; both 0: no trace
  std::uint64_t trace_low = 0;
  std::uint64_t own = 0;     // its id as a part of the trace; 0: none, passes on `parent`
  std::uint64_t parent = 0;  // the parent's id; 0: the trace begins here
  std::uint64_t packed = 0;  // flags (8 bits), state (24), capture bits (32)

  bool is_trace() const { return (trace_high | trace_low) != 0; }

  // W3C's, and ours. No bit fields: they are written byte by byte, and a processor stalls when it
  // then reads them as one word.
  std::uint64_t flags() const { return packed & kAllFlags; }
  void set_flags(std::uint64_t flags) { packed = (packed & ~kAllFlags) | flags; }

  Tracestates::Reference state() const {
    return static_cast<Tracestates::Reference>(packed >> kStateShift) & Tracestates::kLast;
  }
  void set_state(Tracestates::Reference state) {
    packed = (packed & ~kAllStates) | std::uint64_t{state} << kStateShift;
  }

  // The captures that have it and its parts.
  wire::CaptureBits capture_bits() const {
    return static_cast<wire::CaptureBits>(packed >> kBitsShift);
  }
  void set_capture_bits(wire::CaptureBits bits) {
    packed = (packed & (kAllFlags | kAllStates)) | std::uint64_t{bits} << kBitsShift;
  }

  // The context for a part of this.
  TraceContext inside() const {
    TraceContext inner = *this;
    inner.own = 0;
    inner.parent = outgoing();
    inner.set_flags((flags() & (kKnownFlags | kNoRoomFlag | kLeftOutFlag)) |
                    (own == 0 && is_parent_elsewhere() ? kInsideOneThatCameInFlag : 0));
    return inner;
  }

  // The parent is known to be in another process.
  bool is_parent_elsewhere() const {
    return (flags() & (kCameInFlag | kInsideOneThatCameInFlag)) != 0;
  }

  // The id that other processes see.
  std::uint64_t outgoing() const { return own != 0 ? own : parent; }

  bool operator==(const TraceContext&) const = default;

  static constexpr std::uint64_t kAllFlags = 0xFF;
  static constexpr unsigned kStateShift = 8;
  static constexpr std::uint64_t kAllStates = std::uint64_t{Tracestates::kLast} << kStateShift;
  static constexpr unsigned kBitsShift = 32;
};
static_assert(sizeof(TraceContext) == 5 * sizeof(std::uint64_t) && Tracestates::kNone == 0);

// Longer headers are ignored.
inline constexpr std::size_t kLongestHeader = 16'384;

// Length of a traceparent header with its NUL.
inline constexpr std::size_t kTraceparentBytes = 56;

// The context of a transaction inside of the header's sender. Nothing if the header is invalid:
// then a trace begins here. Unknown flags are dropped.
std::optional<TraceContext> parse_traceparent(std::string_view header);

// The header to send, of version 00, with a NUL. Requires: is_trace().
std::array<char, kTraceparentBytes> write_traceparent(const TraceContext& context);

}  // namespace pcp::trace::client
