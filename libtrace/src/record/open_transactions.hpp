// SPDX-License-Identifier: LGPL-2.1-or-later
// The transactions that one thread has opened by name. Each tag has a slot with the time of its
// begin. The owner begins; anybody may end, since the stock library lets another thread do so.
//
// When the owner ends, what it had open stays open for others to end, in its slots: the thread that
// takes its place has slots of its own, and uses those again once they are closed.
//
// A name for which there is no room, so that its calls go to another tag, has a slot of its own as
// well, with a key that tells it from others. Such names may be many: slots that are not open are
// used again.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "record/clock.hpp"
#include "record/open_table.hpp"
#include "record/record.hpp"

namespace pcp::trace::client {

// Thread: one owner calls find_or_make() and orphan(); any thread may call close() and use the
// slot.
class OpenTransactions {
 public:
  // So many transactions of one name that ended owners have left open are kept for others to end.
  // Beyond that, one stays open for ever, like a handle whose memory is lost.
  static constexpr std::size_t kMostOrphans = 1000;

  struct Slot {
    const Tag* tag;
    Slot* next;
    std::atomic<std::uint64_t> key{0};  // 0: of the tag's own name; stands for itself
    std::uint32_t owner = 0;            // which of all owners; only the present one looks
    // The moment of the begin, shifted by one, plus one if a further begin may replace it; 0:
    // not open. Written with release and taken with acquire, one value handed from thread to
    // thread.
    std::atomic<std::uint64_t> begun{0};
    // Where the begin is in its thread's OpenTable. Written before `begun`, and never while that
    // is open: so whoever closes the one that it saw open has read the place that goes with it.
    std::atomic<OpenTable::Place> place{OpenTable::kNowhere};

    bool is_open() const { return begun.load(std::memory_order_relaxed) != 0; }
    bool blocks_begin() const {
      const std::uint64_t value = begun.load(std::memory_order_relaxed);
      return value != 0 && (value & 1) == 0;
    }
    void begin(Moment now, bool replaceable, OpenTable::Place its_place) {
      place.store(its_place, std::memory_order_relaxed);
      begun.store(now << 1 | (replaceable ? 1 : 0), std::memory_order_release);
    }

    // Closes the transaction. Its begin is 0 if it is not open.
    struct Closed {
      Moment begun = 0;
      OpenTable::Place place = OpenTable::kNowhere;
    };
    // Nobody else writes the place. Thread: the owner's.
    Closed close_own() {
      const OpenTable::Place its_place = place.load(std::memory_order_relaxed);
      return {begun.exchange(0, std::memory_order_acq_rel) >> 1, its_place};
    }
    Closed close() {
      std::uint64_t value = begun.load(std::memory_order_acquire);
      while (value != 0) {
        const OpenTable::Place its_place = place.load(std::memory_order_relaxed);
        if (begun.compare_exchange_weak(value, 0, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
          return {value >> 1, its_place};
      }
      return {};
    }
  };

  // The owner's slot. Null if there is none yet, or no memory for it. The key is that of
  // TagCache::Entry.
  Slot* find(const Tag* tag, std::uint64_t key = 0);
  Slot* find_or_make(const Tag* tag, std::uint64_t key = 0);

  // Closes one that is open, the owner's or one that was left open.
  Slot::Closed close(const Tag* tag, std::uint64_t key = 0);

  // The owner ends. Requires: nobody uses a slot as the owner's any more.
  void orphan() { ++owner_; }

 private:
  static constexpr std::size_t kBuckets = 64;
  std::atomic<Slot*>& bucket_of(const Tag& tag) { return buckets_[tag.id % kBuckets]; }

  std::array<std::atomic<Slot*>, kBuckets>
      buckets_{};  // released by the owner, acquired by close()
  std::uint32_t owner_ = 0;
};

}  // namespace pcp::trace::client
