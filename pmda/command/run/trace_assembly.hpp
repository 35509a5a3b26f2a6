// SPDX-License-Identifier: LGPL-2.1-or-later
// Groups spans by trace, from any hosts and in any order, and decides when a trace is finished. The
// last span of a trace cannot be recognized, so time decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collector/engine/types.hpp"
#include "command/run/recent_traces.hpp"
#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

class TraceAssembly {
 public:
  struct Limits {
    Duration quiet = std::chrono::seconds(1);     // since the last span, if the root has come
    Duration orphaned = std::chrono::seconds(5);  // the same without the root
    Duration longest = std::chrono::seconds(60);  // since the first span
    std::size_t bytes = 64u << 20;
    std::size_t traces = 10'000;
    std::size_t spans_of_one = 10'000;  // and as many more that may decide about the trace
    std::size_t remembered = RecentTraces::kMost;  // traces handed out
    // If set, a trace without such a span lasts `longest`: its parts come before the span that
    // selects the trace.
    std::function<bool(const SpanEvent&)> selects{};
  };

  TraceAssembly() : TraceAssembly(Limits()) {}
  explicit TraceAssembly(const Limits& limits) : limits_(limits), shown_(limits.remembered) {}

  void add(SpanEvent span, Instant now);

  // Gives traces that are finished or have no room, in the order of their begins.
  std::vector<SpanTrace> take_finished(Instant now);

  // Gives all traces.
  std::vector<SpanTrace> take_all();

 private:
  using Id = RecentTraces::Id;
  struct Waiting {
    SpanTrace trace;
    std::set<std::uint64_t> known;  // ids of its spans
    bool has_root = false;
    bool is_selected = false;
    std::size_t bytes = 0;
    Instant first{};
    Instant last{};
  };
  using Traces = std::map<Id, Waiting>;

  bool is_finished(const Waiting& waiting, Instant now) const;
  Traces::iterator give(Traces::iterator which, std::vector<SpanTrace>& to);
  void make_room(std::vector<SpanTrace>& to);

  const Limits limits_;
  Traces waiting_;
  std::size_t bytes_ = 0;
  std::vector<SpanTrace> alone_;  // events outside any trace
  RecentTraces shown_;
};

}  // namespace pcp::trace::command
