// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans for filters with slower=, until it is known whether the transaction that such a filter
// selects, the top, was slow: then it is kept with all that is inside of it, or dropped. A part
// of a dropped top is a top if it was slow by itself, as it went on on another thread. A span
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
  static constexpr std::size_t kMost = 16'384;  // beside notes' own 4 MiB: with the rest 4 MiB
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

  // What became of a transaction that has ended, and of what it is inside of as far as that has
  // ended, too.
  struct Ended {
    SpanId parent = 0;  // where what was not decided has gone
    Places kept = 0;
    Places over_limit = 0;
    Places waited = 0;
    Places fast = 0;

    Places decided() const { return kept | over_limit | waited | fast; }
    void add_what_is_around(const Ended& outer);
  };

  // The last ones of many.
  template <typename Value, std::size_t kMost>
  class LastOnes {
   public:
    // Null if it is none of them.
    Value* find(SpanId id) {
      const auto found = values_.find(id);
      return found != values_.end() ? &found->second : nullptr;
    }
    Value& find_or_make(SpanId id) {
      const auto [found, is_new] = values_.try_emplace(id);
      if (!is_new) return found->second;
      in_order_.push_back(id);
      if (in_order_.size() > kMost) {
        values_.erase(in_order_.front());
        in_order_.pop_front();
      }
      return found->second;
    }

   private:
    std::unordered_map<SpanId, Value> values_;
    std::deque<SpanId> in_order_;
  };

  Ended decide(const CapturedSpan& top, Places lost, const CaptureSet& set, std::uint64_t now_ns);
  static std::vector<Held> find_slow(const Branch& branch, Places fast, const CaptureSet& set);
  static void apply(const Ended& ended, Branch& branch, const CaptureSet& set, std::uint64_t now_ns,
                    Decisions& decisions);
  std::vector<Held> hold(Branch branch, const Ended& around, const CaptureSet& set,
                         std::uint64_t now_ns, Decisions& decisions);
  Ended* find(SpanId id);
  const Ended* find_ended(SpanId id);
  template <typename IsOld>
  void give_up_branches(IsOld is_old, Decisions& decisions);
  void make_room(std::uint64_t now_ns, Decisions& decisions);

  std::unordered_map<SpanId, Branch> branches_;
  std::size_t held_ = 0;  // in all branches
  static constexpr std::size_t kMostEnded = 4'096;
  std::array<LastOnes<Ended, kMostEnded>, 2> ended_;  // fast ones, and those that were kept
  // Those that are open of which a part was given up, for these places.
  LastOnes<Places, kMost> lost_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace pcp::trace::client
