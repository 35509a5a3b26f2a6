// SPDX-License-Identifier: LGPL-2.1-or-later
// The flusher's part of filters with slower= or another reason: which of the spans that threads
// hand over are sent. SlowTrees has the other part.
//
// All spans of a list have one fate. A list is kept for a filter if its first transaction was slow,
// or a selected one around it that has ended meanwhile. Else the list waits at the next open one
// around. If that cannot be found any more, or if too many lists wait, the trace is decisive: the
// list is held until the trace is wanted (HeldTraces), like a fast list of a trace that crosses
// processes.
//
// A trace with a slow list is wanted in all processes, unless it is over the limit: then it stays
// so for some time.
//
// Nothing here throws.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spans/held_traces.hpp"
#include "spans/last_ones.hpp"
#include "spans/slow_trees.hpp"

namespace pcp::trace::client {

class SlowSpans {
 public:
  SlowSpans(SpanPool& pool, SlowTrees& trees, HeldTraces& traces)
      : pool_(pool), trees_(trees), held_(traces) {}

  // Decides about a list, or lets it wait; without a set it never waits.
  void settle(SpanPool::Index list, const CaptureSet* set, std::uint64_t now_ns);

  // Decides about open transactions that are slow already. True if others may become slow.
  bool look_at_open(const OpenEntries& entries, const CaptureSet& set, std::uint64_t now_ns);

  // Holds the oldest lists that wait if they take too much room. Call this periodically. `entries`:
  // of the open table, also below.
  void expire(std::uint32_t entries, const CaptureSet& set, std::uint64_t now_ns);

  // Holds all lists that wait, or without a set drops them.
  void hold_all(std::uint32_t entries, const CaptureSet* set) {
    hold_old(entries, UINT64_MAX, set);
  }

 private:
  struct OverLimit {
    CaptureBits bits = 0;
    std::uint64_t since_ns = 0;
  };

  CaptureBits keep_what_waits(SpanPool::Index& list, const CaptureSet* set);
  OverLimit& over_limit(std::uint64_t trace, std::uint64_t now_ns);
  Fates decide(CaptureBits slow, std::uint64_t trace, const CaptureSet& set, std::uint64_t now_ns);
  void take_out(SpanPool::Index& list, const Fates& fates, CaptureBits fast, const CaptureSet& set,
                std::uint64_t now_ns);
  void take_out_rest(SpanPool::Index list, CaptureBits held, const CaptureSet& set,
                     std::uint64_t now_ns);
  void hold_old(std::uint32_t entries, std::uint64_t until, const CaptureSet* set);

  SpanPool::Share& share() { return pool_.flushers_share(); }

  SpanPool& pool_;
  SlowTrees& trees_;
  HeldTraces& held_;
  LastOnes<OverLimit, 4'096> over_limit_;  // traces by the low half of their ids
  OverLimit without_memory_;
};

}  // namespace pcp::trace::client
