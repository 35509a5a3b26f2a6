// SPDX-License-Identifier: LGPL-2.1-or-later
// Puts spans together that belong to one trace, from whatever hosts and in whatever order they
// come, and says when a trace is worth showing: nobody knows when the last of it has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collector/engine/types.hpp"
#include "command/traces/span_trace.hpp"

namespace pcp::trace::command {

class TraceAssembly {
 public:
  struct Limits {
    agent::Time quiet = std::chrono::seconds(1);     // since the last of it, if the root is there
    agent::Time orphaned = std::chrono::seconds(5);  // the same, if it is not
    agent::Time longest = std::chrono::seconds(60);  // since the first of it
    std::size_t bytes = 64u << 20;
    std::size_t traces = 10'000;
    std::size_t spans_of_one = 10'000;
    std::size_t remembered = 10'000;  // traces that were shown
  };

  TraceAssembly() : TraceAssembly(Limits()) {}
  explicit TraceAssembly(const Limits& limits) : limits_(limits) {}

  void add(SpanEvent span, agent::Time now);

  // Gives those that are finished, or for which there is no room, in the order of their beginnings.
  std::vector<SpanTrace> take_finished(agent::Time now);

  // Gives all that is there.
  std::vector<SpanTrace> take_all();

 private:
  using Id = std::pair<std::uint64_t, std::uint64_t>;
  struct Waiting {
    SpanTrace trace;
    std::set<std::uint64_t> known;  // ids of its spans
    bool has_root = false;
    std::size_t bytes = 0;
    agent::Time first{};
    agent::Time last{};
  };
  using Traces = std::map<Id, Waiting>;

  bool is_finished(const Waiting& waiting, agent::Time now) const;
  Traces::iterator give(Traces::iterator which, std::vector<SpanTrace>& to);
  void make_room(std::vector<SpanTrace>& to);
  void remember(Id id);

  const Limits limits_;
  Traces waiting_;
  std::size_t bytes_ = 0;
  std::vector<SpanTrace> alone_;  // events of no trace
  std::set<Id> shown_;
  std::deque<Id> shown_in_order_;
};

}  // namespace pcp::trace::command
