// SPDX-License-Identifier: LGPL-2.1-or-later
// The transactions that one thread opened by name. Each tag has a slot with the time of its begin.
// Only the owner begins; any thread may end, as in the stock library.
//
// When the owner thread ends, its open transactions stay in their slots for other threads to end.
// The next owner has its own slots, and reuses closed ones.
//
// A name without room (its calls go to another tag) has its own slot, too, with a key that tells it
// from other such names. They may be many: closed slots are reused.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "open/moment.hpp"
#include "open/open_table.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

// Thread: one owner calls find_or_make() and orphan(); any thread may call close() and use the
// slot.
class OpenByName {
 public:
  // So many transactions per name that ended owners left open are kept for other threads to end.
  // Beyond that, one stays open for ever, like a handle whose memory is lost.
  static constexpr std::size_t kMostOrphans = 1000;

  struct Slot {
    const Tag* tag;
    Slot* next;
    std::atomic<std::uint64_t> key{0};  // 0: the tag's own name; orders nothing else
    std::uint32_t owner = 0;            // numbers the owners; only the present one reads it
    // The moment of the begin, shifted by one, plus one if another begin may replace it; 0: not
    // open. Written with release, read with acquire.
    std::atomic<std::uint64_t> begun{0};
    // The begin's ref in its thread's OpenTable. Written before `begun`, and never while `begun`
    // is set: a thread that closes the begin it saw has read the matching ref.
    std::atomic<OpenTable::Ref> ref{OpenTable::kNoRef};

    bool is_open() const { return begun.load(std::memory_order_relaxed) != 0; }
    bool blocks_begin() const {
      const std::uint64_t value = begun.load(std::memory_order_relaxed);
      return value != 0 && (value & 1) == 0;
    }
    void begin(Moment now, bool replaceable, OpenTable::Ref its_ref) {
      ref.store(its_ref, std::memory_order_relaxed);
      begun.store(now << 1 | (replaceable ? 1 : 0), std::memory_order_release);
    }

    // Both give the begin, without a moment if the transaction was not open. No other thread writes
    // the ref. Thread: the owner's.
    Begun close_own() {
      const OpenTable::Ref its_ref = ref.load(std::memory_order_relaxed);
      return {begun.exchange(0, std::memory_order_acq_rel) >> 1, its_ref};
    }
    Begun close() {
      std::uint64_t value = begun.load(std::memory_order_acquire);
      while (value != 0) {
        const OpenTable::Ref its_ref = ref.load(std::memory_order_relaxed);
        if (begun.compare_exchange_weak(value, 0, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
          return {value >> 1, its_ref};
      }
      return {};
    }
  };

  // The owner's slot. Null if there is none yet, or no memory. The key is TagCache::Entry's.
  Slot* find(const Tag* tag, std::uint64_t key = 0);
  Slot* find_or_make(const Tag* tag, std::uint64_t key = 0);

  // Closes an open one: the owner's, or one that an earlier owner left open.
  Begun close(const Tag* tag, std::uint64_t key = 0);

  // The owner ends. Requires: no thread uses a slot as its owner any more.
  void orphan() { ++owner_; }

 private:
  static constexpr std::size_t kBuckets = 64;
  std::atomic<Slot*>& bucket_of(const Tag& tag) { return buckets_[tag.id % kBuckets]; }

  std::array<std::atomic<Slot*>, kBuckets>
      buckets_{};  // released by the owner, acquired by close()
  std::uint32_t owner_ = 0;
};

}  // namespace pcp::trace::client
