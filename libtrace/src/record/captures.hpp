// SPDX-License-Identifier: LGPL-2.1-or-later
// What is being captured: the transactions and events that somebody has asked the agent to see one
// by one. The flusher publishes a set of filters, each at a place of its own, and every thread
// looks at it for as long as it is not empty, which a bit of the state flags tells.
//
// A set never changes; a new one is published, and the old one goes when no thread looks at it any
// more. Each has an epoch. A bit of a place that was set in an earlier epoch still stands for the
// same filter if that was there already.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "record/span_limit.hpp"
#include "record/state.hpp"
#include "record/tag_registry.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::client {

// Bits of places.
using Places = std::uint32_t;

template <typename Visit>
void for_each_place(Places places, Visit visit) {
  for (; places != 0; places &= places - 1) visit(static_cast<std::size_t>(__builtin_ctz(places)));
}

// Made by the flusher; then any thread may look.
class CaptureSet {
 public:
  using Epoch = std::uint32_t;

  // A set with nothing in it yet. Gives each set of this process and those that it was forked from
  // another epoch.
  explicit CaptureSet(std::uint64_t control);

  // `since`: the epoch from which on it is there; 0: from now on. Requires: the place is free.
  void add(const wire::Capture& capture, const wire::CaptureFilter& filter,
           std::uint32_t most_a_second, Epoch since);

  Epoch epoch() const { return epoch_; }
  std::uint64_t control() const { return control_; }  // the agent's number
  Places places() const { return places_; }

  struct Asked {
    std::uint64_t id = 0;
    Epoch since = 0;
    wire::CaptureFilter filter;
    std::uint64_t share = 0;  // of trace ids, in parts of 2^56
    mutable SpanLimit limit;
    // What did not get into the queue. Counted by any thread, read when nobody looks any more.
    mutable std::atomic<std::uint64_t> missed_full{0};
    mutable std::atomic<std::uint64_t> missed_limit{0};
  };
  const Asked& at(std::size_t place) const { return asked_[place]; }

  // Of places that had their bits in an epoch, of which the low 16 bits are known, those that still
  // stand for the same.
  Places still_asked(Places places, std::uint16_t epoch) const {
    places &= places_;
    const bool are_of_this = static_cast<std::uint16_t>(epoch_) == epoch;
    return places == 0 || are_of_this ? places : asked_since(places, epoch);
  }

  // Those whose filter has this tag. Looked up once for each tag.
  Places matching(const Tag& tag) const {
    const std::uint64_t known = tag.captured_by.load(std::memory_order_relaxed);
    return known >> 32 == epoch_ ? static_cast<Places>(known) : look_up(tag);
  }

  // Of these places those that take a transaction of this trace, a top, now; the others have missed
  // it. Those over their limit go to `over_limit`, as do all that have left out what is around it.
  Places admit(Places places, std::uint64_t trace_low, Places& over_limit) const;

  // Those that want slow ones only, with what is inside of them: which ones these are is known when
  // the top ends. Until then no limit holds.
  Places slow() const { return slow_; }
  bool is_slow(std::size_t place, std::uint64_t duration_ns) const {
    return duration_ns >= asked_[place].filter.slower_ns;
  }

  // One more span, or event, at each but those of slow ones.
  void count(Places places, std::uint64_t now_ns) const;
  void miss_for_want_of_room(Places places) const;

  // Those that want such events.
  Places wanting(wire::SpanKind kind) const;

 private:
  Places asked_since(Places places, std::uint16_t epoch) const;
  Places look_up(const Tag& tag) const;

  const Epoch epoch_;
  const std::uint64_t control_;
  Places places_ = 0;
  Places slow_ = 0;
  Places points_ = 0;
  Places observations_ = 0;
  Places counters_ = 0;
  std::array<Asked, wire::kMaxCaptures> asked_;
};

// A thread's looks at the sets, begun and ended: odd while it is looking.
using LooksAtCaptures = std::atomic<std::uint64_t>;

class Captures {
 public:
  // Thread: the flusher's. Publishes a set; null: nothing is captured any more. The one before is
  // kept until each of these threads that is looking now has looked away.
  void publish(std::unique_ptr<const CaptureSet> set,
               const std::vector<const LooksAtCaptures*>& threads);
  const CaptureSet* published() const { return owned_.get(); }

  // What is published does not have this tag, as a thread has found out that began it. Thread: any.
  bool leave_out(const Tag& tag) const {
    return tag.captured_by.load(std::memory_order_relaxed) ==
           std::uint64_t{epoch_.load(std::memory_order_relaxed)} << 32;
  }

  // Does not hand out any of those before what is published. Thread: the flusher's, as of the rest.
  void forget_before() {
    for (Before& before : before_) before.is_forgotten = true;
  }

  // Hands out the sets before that no thread looks at any more, for the last time.
  template <typename Visit>
  void retire(Visit visit) {
    std::erase_if(before_, [&](Before& before) {
      std::erase_if(before.looking,
                    [](const Looking& each) { return each.looks->load() != each.then; });
      if (before.looking.empty() && !before.is_forgotten) visit(*before.set);
      return before.looking.empty();
    });
  }

  // Those that were not handed out yet, and what is published.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Before& before : before_)
      if (!before.is_forgotten) visit(*before.set);
    if (owned_ != nullptr) visit(*owned_);
  }

  // What is published, while it lives; nothing at times.
  class Look {
   public:
    // Both sides write and then read, in the one order of sequential consistency: either this
    // thread sees the new set, or the flusher sees it looking.
    Look(const Captures& captures, LooksAtCaptures& looks)
        : looks_(looks), now_(looks.load(std::memory_order_relaxed) + 1) {
      looks_.exchange(now_);
      set_ = captures.current_.load();
    }
    ~Look() { looks_.store(now_ + 1, std::memory_order_release); }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    explicit operator bool() const { return set_ != nullptr; }
    const CaptureSet* operator->() const { return set_; }
    const CaptureSet& operator*() const { return *set_; }

   private:
    LooksAtCaptures& looks_;
    const std::uint64_t now_;
    const CaptureSet* set_;
  };

 private:
  struct Looking {
    const LooksAtCaptures* looks;
    std::uint64_t then;
  };
  struct Before {
    std::unique_ptr<const CaptureSet> set;
    std::vector<Looking> looking;
    bool is_forgotten = false;
  };

  std::atomic<const CaptureSet*> current_{nullptr};
  std::atomic<CaptureSet::Epoch> epoch_{0};  // of the last set; stands for itself
  std::unique_ptr<const CaptureSet> owned_;
  std::vector<Before> before_;
};

}  // namespace pcp::trace::client
