// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds where traces are torn: a span's parent was not captured although other parts of the trace
// were. Each process captures its own part. A process that was over its limit, or whose tags the
// filter does not name, leaves a hole. Ids do not describe the parent. But if such spans have
// parents in one service only, in all traces where the parents are known, that service is named.
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
  // Learns from the trace where parents are, and fills trace.torn.
  void mark(SpanTrace& trace);

  // Fills in the services that have been learnt since.
  void name(SpanTrace& trace) const;

 private:
  static constexpr std::size_t kMostKinds = 10'000;  // learnt; further ones stay unknown

  void learn(const std::vector<Node>& nodes);

  // By service and tag of a span: the service of its parents; empty if there are several.
  std::unordered_map<std::string, std::string> callers_;
};

}  // namespace pcp::trace::command
