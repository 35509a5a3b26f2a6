// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans for filters with slower=, until it is known whether the transaction that such a filter
// selects, the top, was slow: then it is kept with all that is inside of it, or dropped. A span
// ends before what it is a part of, as a rule, and is held under its parent's id; when the parent
// ends, both go under the next one's, up to the top. What became of those that have ended is
// remembered for what comes after them.
//
// Room is bounded: at first what waits longest is given up, whole trees of it.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "record/captures.hpp"
#include "record/span_notes.hpp"
#include "record/span_queue.hpp"

namespace pcp::trace::client {

class HeldSpans {
 public:
  static constexpr std::size_t kMost = 16'384;  // with notes' own 4 MiB: 3 MiB
  static constexpr std::uint64_t kPatienceNs = 300'000'000'000;

  // Its places are those that it is held for.
  struct Held {
    CapturedSpan span;
    std::shared_ptr<SpanNotes> notes;
  };

  enum class Fate { Kept, OverLimit, WaitedTooLong };
  struct Decided {
    Held held;
    Fate fate;
  };
  using Decisions = std::vector<Decided>;

  // Holds a span, or decides it, and with it what was held under it.
  void take(Held held, const CaptureSet& set, std::uint64_t now_ns, Decisions& decisions);

  // Gives up what has waited for too long; to be called now and then.
  void look(std::uint64_t now_ns, Decisions& decisions);

  // Gives up all.
  void give_up(Decisions& decisions);

  // Forgets places of which nobody asks any more.
  void keep_only(Places places);

  bool empty() const { return branches_.empty(); }

 private:
  using SpanId = std::uint64_t;

  // What is inside of one transaction that has not ended.
  struct Branch {
    std::vector<Held> spans;
    std::uint64_t since_ns = UINT64_MAX;
    Places lost = 0;  // for those a part was given up, so that all has to be
  };

  // What became of a transaction that has ended.
  struct Ended {
    SpanId parent = 0;  // where what was not decided has gone
    Places kept = 0;
    Places over_limit = 0;
    Places waited = 0;
    Places fast = 0;
  };

  Ended decide(const CapturedSpan& top, Branch& branch, const CaptureSet& set, std::uint64_t now_ns,
               Decisions& decisions);
  void apply(const Ended& ended, Branch& branch, Decisions& decisions);
  void hold(Branch branch, SpanId parent, Decisions& decisions);
  void remember(SpanId id, const Ended& ended);
  template <typename IsOver>
  void erase_branches(IsOver is_over);
  template <typename IsOld>
  void give_up_branches(IsOld is_old, Decisions& decisions);
  void make_room(std::uint64_t now_ns, Decisions& decisions);

  std::unordered_map<SpanId, Branch> branches_;
  std::size_t held_ = 0;  // in all branches
  std::unordered_map<SpanId, Ended> ended_;
  std::array<std::deque<SpanId>, 2> ended_in_order_;  // fast ones, and those that were kept
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace pcp::trace::client
