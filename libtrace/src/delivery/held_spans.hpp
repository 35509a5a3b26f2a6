// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds spans for filters with slower= until the top, the transaction that matches the filter,
// ends. A slow top is kept with everything inside; a fast one is dropped. A part of a dropped top
// is a top if it was slow itself, since it may have continued on another thread. A span usually
// ends before its parent and is held under its parent's id. When the parent ends, both go under the
// next parent, up to the top. Decisions about ended transactions are remembered for later parts.
//
// Room is bounded: the trees that have waited longest are given up first.
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

  // A span whose places are those it is held for.
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

  // Holds or decides a span, and the spans held under it.
  void take(Held held, const CaptureSet& set, std::uint64_t now_ns, Decisions& decisions);

  // Gives up spans that have waited too long. Call this periodically.
  void look(std::uint64_t now_ns, Decisions& decisions);

  // Gives up all.
  void give_up(Decisions& decisions);

  // Forgets all places but these.
  void keep_only(Places places);

  bool empty() const { return branches_.empty(); }

 private:
  using SpanId = std::uint64_t;

  // The spans inside of one open transaction.
  struct Branch {
    std::vector<Held> spans;
    std::uint64_t since_ns = UINT64_MAX;
    Places lost = 0;  // places with spans given up: the rest is given up, too
  };

  // The decisions about an ended transaction, and about the ended ones around it.
  struct Ended {
    SpanId parent = 0;  // undecided spans are held under this
    Places kept = 0;
    Places over_limit = 0;
    Places waited = 0;
    Places fast = 0;

    Places decided() const { return kept | over_limit | waited | fast; }
    void add_what_is_around(const Ended& outer);
  };

  // Keeps the newest kMost entries.
  template <typename Value, std::size_t kMost>
  class LastOnes {
   public:
    // Null if not among them.
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
  void forget(const std::vector<Held>& anew, Places fast);
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
  std::array<LastOnes<Ended, kMostEnded>, 2> ended_;  // [1]: kept for a place; [0]: the rest
  // Open transactions with spans given up, for these places.
  LastOnes<Places, kMost> lost_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace pcp::trace::client
