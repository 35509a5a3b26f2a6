// SPDX-License-Identifier: LGPL-2.1-or-later
// Captured traces that stand for others: the slowest and the slowest failed one of each moment and
// name of a root, and one of each size. A page leads to them from its charts, and filters them.
//
// Thread: one.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

class Exemplars {
 public:
  static constexpr std::size_t kMoments = 60;
  static constexpr std::size_t kTags = 8;  // names of roots; further ones share the last place
  static constexpr std::size_t kSpansOfOne = 40;
  static constexpr std::size_t kBytesOfOne = 8u << 10;

  Exemplars(WallTime begin, WallTime end) : begin_(begin), length_(end - begin) {}

  // Copies the trace if it is kept. Requires: the trace has spans or events.
  void add(const SpanTrace& trace);

  // In the order of time, without those that are among `others`. Nothing may be added afterwards.
  std::vector<SpanTrace> take(const std::vector<SpanTrace>& others);

 private:
  // The slowest trace of each group is kept.
  struct Group {
    std::size_t tag = 0;
    std::size_t moment = 0;
    std::size_t size = 0;
    bool has_failed = false;
    auto operator<=>(const Group&) const = default;
  };
  struct Kept {
    std::uint64_t duration_ns = 0;
    std::shared_ptr<const SpanTrace> trace;
  };

  std::size_t tag_of(const SpanTrace& trace);
  std::size_t moment_of(const SpanTrace& trace) const;

  const WallTime begin_;
  const std::chrono::nanoseconds length_;
  std::map<std::string, std::size_t> tags_;
  std::map<Group, Kept> kept_;
};

}  // namespace pcp::trace::command
