// SPDX-License-Identifier: LGPL-2.1-or-later
// The four kinds of tracing, with their numbers in PCP's trace protocol, and the limits of a tag.
// Shared by the client, the codecs and the agent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pcp::trace {

enum class TraceType : std::uint8_t { Transact = 1, Point = 2, Observe = 3, Counter = 4 };

inline constexpr std::array kTraceTypes{TraceType::Transact, TraceType::Point, TraceType::Observe,
                                        TraceType::Counter};

// Gives 0 to 3: an array index, and the number of the type's instance domain in the agent.
constexpr std::size_t index_of(TraceType type) { return static_cast<std::size_t>(type) - 1; }

constexpr bool is_trace_type(std::uint64_t number) { return number >= 1 && number <= 4; }

// True if a histogram is kept for the type.
constexpr bool has_histogram(TraceType type) {
  return type == TraceType::Transact || type == TraceType::Observe;
}

// A tag is 1 to 254 bytes, any but NUL.
inline constexpr std::size_t kMaxTagLength = 254;

constexpr bool is_tag(std::string_view name) {
  return !name.empty() && name.size() <= kMaxTagLength && name.find('\0') == name.npos;
}

// The tag for all names without room.
inline constexpr std::string_view kOverflowName = "(overflow)";

}  // namespace pcp::trace
