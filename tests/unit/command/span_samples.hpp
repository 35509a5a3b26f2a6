// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans for tests, which begin so many milliseconds after a fixed time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp/span_event.hpp"
#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

inline constexpr std::uint64_t kMoment = 1'800'000'000'000'000'000;
inline constexpr std::uint64_t kMs = 1'000'000;

inline SpanEvent span_of(const std::string& tag, std::uint64_t id, std::uint64_t parent,
                         std::uint64_t begin_ms = 0, std::uint64_t ms = 1,
                         std::uint64_t trace = 1) {
  SpanEvent span;
  span.tag = tag;
  span.trace = {0, trace};
  span.span = id;
  span.parent = parent;
  span.begin_ns = kMoment + begin_ms * kMs;
  span.duration_ns = ms * kMs;
  span.service = "shop";
  span.pid = 11;
  span.host = "saturn";
  return span;
}

inline SpanEvent point_of(const std::string& tag, std::uint64_t span, std::uint64_t at_ms) {
  SpanEvent point = span_of(tag, span, 0, at_ms, 0);
  point.kind = wire::SpanKind::Point;
  return point;
}

inline SpanTrace trace_of(std::vector<SpanEvent> spans, std::uint64_t id = 1) {
  SpanTrace trace;
  trace.id = {0, id};
  trace.spans = std::move(spans);
  return trace;
}

inline std::vector<std::uint64_t> ids_of(const std::vector<SpanTrace>& traces) {
  std::vector<std::uint64_t> ids;
  for (const SpanTrace& trace : traces) ids.push_back(trace.id.low);
  return ids;
}

}  // namespace pcp::trace::command
