// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds where traces are torn. Each process captures its own part. A process that was over its
// limit, was not slow enough, or whose tags the filter does not name, leaves a hole:
// - A span's parent was not captured although other parts of the trace were. Ids do not describe
// the
//   parent. But if such spans have parents in one service only, in all traces where the parents are
//   known, that service is named.
// - A span gave its trace to another process, and no part of that was captured. Maybe that process
//   is not traced. So this is a hole only if such spans have called a part in another trace.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

// Thread: one.
class TornSpans {
 public:
  // Learns from the trace who calls whom.
  void learn(const SpanTrace& trace);

  // Fills trace.torn and lacks_part_in by what has been learnt until now.
  void mark(SpanTrace& trace) const;

 private:
  static constexpr std::size_t kMostKinds = 10'000;  // learnt; further ones stay unknown

  // By service and tag of a span: a service; empty if there are several.
  using Services = std::unordered_map<std::string, std::string>;

  static void learn(Services& services, const SpanEvent& span, const SpanEvent& other);

  Services callers_;  // those of its parents
  Services called_;   // those of its children in other processes
};

}  // namespace pcp::trace::command
