// SPDX-License-Identifier: LGPL-2.1-or-later
// The flusher's part of filters with slower=: which of the spans that threads hand over are sent.
// SlowTrees has the other part.
//
// All spans of a list have one fate. A list is kept for a filter if its first transaction was slow,
// or a selected one around it that has ended meanwhile. Else the list waits at the next open one
// around. If that cannot be found any more, the list waits here for the fate of its parent. If the
// parent had ended before, and no older list waits any more, the parent's tree was fast: nobody
// reports that here. If too many lists wait, the oldest are given up.
//
// A trace with a slow list is wanted in all processes, unless it is over the limit: then it stays
// so for some time. A fast list of a trace that crosses processes is held (HeldTraces).
//
// Nothing here throws. Without memory a fate is forgotten, and a list that cannot wait is given up.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

#include "spans/capture_books.hpp"
#include "spans/held_traces.hpp"
#include "spans/last_ones.hpp"
#include "spans/slow_trees.hpp"

namespace pcp::trace::client {

class SlowSpans {
 public:
  static constexpr std::uint64_t kPatienceNs = 300'000'000'000;
  static constexpr std::size_t kMostOrphans = 4'096;

  using Outcome = CaptureBooks::Outcome;

  SlowSpans(SpanPool& pool, SlowTrees& trees, HeldTraces& traces, Decide decide)
      : pool_(pool), trees_(trees), held_(traces), decide_(std::move(decide)) {}

  // Decides about a list, or lets it wait; without a set it never waits.
  void settle(SpanPool::Index list, const CaptureSet* set, std::uint64_t now_ns);

  // Decides about open transactions that are slow already. True if others may become slow.
  bool look_at_open(const OpenEntries& entries, const CaptureSet& set, std::uint64_t now_ns);

  // Gives up lists that have waited too long, or take too much room. Call this periodically.
  // `entries`: of the open table, also below.
  void expire(std::uint32_t entries, const CaptureSet& set, std::uint64_t now_ns);

  // Gives up all lists that wait. Without a set nobody is told.
  void give_up(std::uint32_t entries, const CaptureSet* set) {
    give_up_old(entries, UINT64_MAX, set);
  }

 private:
  struct Fates {
    CaptureBits kept = 0;
    CaptureBits over_limit = 0;
    CaptureBits waited = 0;
    CaptureBits held = 0;
    CaptureBits fast = 0;  // dropped

    CaptureBits all() const { return kept | over_limit | waited | held | fast; }
    void add(const Fates* more);
  };
  struct Orphans {
    std::uint64_t parent;
    std::uint64_t since_ns;
    SpanPool::Index list = 0;
    bool has_ended = true;  // the parent
    bool is_due = false;    // in the list of take_out(), by `next_due`
    Orphans* next_due = nullptr;
  };

  struct OverLimit {
    CaptureBits bits = 0;
    std::uint64_t since_ns = 0;
  };

  void remember(std::uint64_t id, const Fates& fates);
  bool let_wait(SpanPool::Index list, std::uint64_t parent, bool has_ended, std::uint64_t now_ns);
  CaptureBits keep_what_waits(SpanPool::Index& list, const CaptureSet* set);
  Fates decide(CaptureBits slow, std::uint64_t trace, const CaptureSet& set, std::uint64_t now_ns);
  void take_out(SpanPool::Index& list, const Fates& fates, const CaptureSet& set,
                std::uint64_t now_ns);
  void give_up_old(std::uint32_t entries, std::uint64_t until, const CaptureSet* set);
  void give_up_orphans(std::uint64_t until, bool are_fast, const CaptureSet* set);
  void give_up(SpanPool::Index list, TreeRef around, const CaptureSet* set, std::uint64_t now_ns);

  SpanPool::Share& share() { return pool_.flushers_share(); }

  SpanPool& pool_;
  SlowTrees& trees_;
  HeldTraces& held_;
  const Decide decide_;
  LastOnes<OverLimit, 4'096> over_limit_;  // traces by the low half of their ids
  LastOnes<Fates, 16'384> ended_;          // spans by their ids, and slow selected ones by TreeRef
  // Spans that wait for their parents, by the ids of these.
  std::unordered_map<std::uint64_t, Orphans> orphans_;
  std::size_t orphaned_ = 0;  // spans in orphans_
  std::uint64_t next_check_ns_ = 0;
};

}  // namespace pcp::trace::client
