// SPDX-License-Identifier: LGPL-2.1-or-later
// To which trace a transaction belongs: what one request causes in all programs that it passes
// through, as W3C's Trace Context (level 2) has it. A program is told by the headers traceparent
// and tracestate, and tells the next one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "record/tracestates.hpp"

namespace pcp::trace::client {

inline constexpr std::uint64_t kSampledFlag = 1;
inline constexpr std::uint64_t kRandomFlag = 2;  // the trace's id is random
inline constexpr std::uint64_t kKnownFlags = kSampledFlag | kRandomFlag;
inline constexpr std::uint64_t kCameInFlag = 128;  // ours: begun with headers of another process
inline constexpr std::uint64_t kLeftOutFlag = 64;  // ours: there was no room for it, or its top
inline constexpr std::uint64_t kInsideOneThatCameInFlag = 32;  // ours: of which it has the parent
inline constexpr std::uint64_t kOverLimitFlag = 16;  // ours: over a filter's limit, or its top

// Five words, which lie in the memory of an open transaction.
struct TraceContext {
  std::uint64_t trace_high = 0;  // the trace's id; both 0: no trace
  std::uint64_t trace_low = 0;
  std::uint64_t own = 0;     // the transaction's id as a part of it; 0: it has none, and passes on
  std::uint64_t parent = 0;  // the id of what it is a part of; 0: of nothing, the trace begins here
  std::uint64_t packed = 0;  // flags (8 bits), state (24), places (32)

  bool is_trace() const { return (trace_high | trace_low) != 0; }

  // W3C's, and ours. No bit fields: their bytes are written one by one, and a processor that has
  // just done so cannot read them as one word.
  std::uint64_t flags() const { return packed & kAllFlags; }
  void set_flags(std::uint64_t flags) { packed = (packed & ~kAllFlags) | flags; }

  Tracestates::Reference state() const {
    return static_cast<Tracestates::Reference>(packed >> kStateShift) & Tracestates::kLast;
  }
  void set_state(Tracestates::Reference state) {
    packed = (packed & ~kAllStates) | std::uint64_t{state} << kStateShift;
  }

  // Where it is captured, and what is inside of it.
  std::uint32_t places() const { return static_cast<std::uint32_t>(packed >> kPlacesShift); }
  void set_places(std::uint32_t places) {
    packed = (packed & (kAllFlags | kAllStates)) | std::uint64_t{places} << kPlacesShift;
  }

  // Of what is a part of this.
  TraceContext inside() const {
    TraceContext inner = *this;
    inner.own = 0;
    inner.parent = outgoing();
    inner.set_flags((flags() & (kKnownFlags | kLeftOutFlag | kOverLimitFlag)) |
                    (own == 0 && is_parent_elsewhere() ? kInsideOneThatCameInFlag : 0));
    return inner;
  }

  // Known to be in another process.
  bool is_parent_elsewhere() const {
    return (flags() & (kCameInFlag | kInsideOneThatCameInFlag)) != 0;
  }

  // By which others know this.
  std::uint64_t outgoing() const { return own != 0 ? own : parent; }

  bool operator==(const TraceContext&) const = default;

  static constexpr std::uint64_t kAllFlags = 0xFF;
  static constexpr unsigned kStateShift = 8;
  static constexpr std::uint64_t kAllStates = std::uint64_t{Tracestates::kLast} << kStateShift;
  static constexpr unsigned kPlacesShift = 32;
};
static_assert(sizeof(TraceContext) == 5 * sizeof(std::uint64_t) && Tracestates::kNone == 0);

// What is longer is no header that anybody sends.
inline constexpr std::size_t kLongestHeader = 16'384;

// Of the header traceparent, and of the NUL after it.
inline constexpr std::size_t kTraceparentBytes = 56;

// What is inside of who sent this header. Nothing if it is not valid: then a trace begins here.
// Flags that are not known are left out.
std::optional<TraceContext> parse_traceparent(std::string_view header);

// The header for what goes out. Version 00, with a NUL. Requires: is_trace().
std::array<char, kTraceparentBytes> write_traceparent(const TraceContext& context);

}  // namespace pcp::trace::client
