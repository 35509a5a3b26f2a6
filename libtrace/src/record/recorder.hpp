// SPDX-License-Identifier: LGPL-2.1-or-later
// What one thread records into: its place in the event queue, its overflow cells, its tag cache and
// its open transactions. Never freed; when a thread ends, the next new thread takes its recorder
// over.
//
// A recorder lies in memory that the kernel wipes in a forked child. There all of it reads as zero,
// which is_alive() tells by one load from the cache line that a call needs anyway.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

#include <concurrentqueue/concurrentqueue.h>

#include "record/doorbell.hpp"
#include "record/open_transactions.hpp"
#include "record/overflow.hpp"
#include "record/record.hpp"
#include "record/tag_cache.hpp"

namespace pcp::trace::client {

struct RecordQueueTraits : moodycamel::ConcurrentQueueDefaultTraits {
  static const std::size_t BLOCK_SIZE = 256;  // 4 KiB
};

// What the recorders of a process share: the queue, the room in it, and the flusher's spare slab.
class RecordQueue : public moodycamel::ConcurrentQueue<Record, RecordQueueTraits> {
 public:
  using ConcurrentQueue::ConcurrentQueue;

  // Takes room for so many records from what is there for the threads that need more than others.
  // False if less is left. Never given back, since the queue does not give its blocks back either.
  // Thread: any.
  bool take_room(std::uint64_t records, std::uint64_t of_all);

  OverflowSlab spare;  // the flusher's

 private:
  alignas(64) std::atomic<std::uint64_t> taken_{0};  // stands for itself: relaxed
};

class Recorder {
 public:
  // Every thread has room for so many records. Those that need more double it, up to the capacity,
  // until all together have taken as much as four threads may have; so many threads take little.
  static constexpr std::uint32_t kFirstRoom = 256;
  static constexpr std::uint32_t kWideThreads = 3;

  Recorder(RecordQueue& queue, Doorbell& doorbell, std::uint32_t capacity)
      : queue_(&queue),
        doorbell_(&doorbell),
        token_(queue),
        capacity_(capacity),
        room_(std::min(capacity, kFirstRoom)) {
    look_at_room();
  }

  // Records a call. 0, or -ENOMEM if a full thread finds no memory for a new tag. Takes the
  // record's parts, and should be inlined with the queue's code: they then reach their place in the
  // queue from registers. By way of memory they would be written one by one and read as a whole,
  // for which the processor waits longer than for all the rest. Thread: the owner's.
  int record(const Tag* tag, double value, RecordKind kind) {
    if (enqueue(tag, value, kind)) [[likely]]
      return 0;
    return record_slowly(tag, value, kind);
  }

  // False if there was no memory for its place in the queue.
  bool is_usable() const { return token_.valid(); }

  // False in a forked child: this recorder is the parent's.
  bool is_alive() const { return queue_ != nullptr; }

  // True once it is known that the process has had a connection. Thread: the owner's.
  bool has_connected = false;

  TagCache& tags() { return tags_; }  // Thread: the owner's.
  OpenTransactions& transactions() { return transactions_; }

  // Hands what was recorded until now over in the order of recording; bounded even if the owner
  // never pauses. Before so many records or cells leave their places make_room() is asked, which
  // may throw; what follows must not. Records leave the queue by way of prepare(), and what it
  // makes of some of them goes to visit_prepared (a span); cells go to visit_cell. True if there
  // was anything. Thread: the flusher's.
  template <typename MakeRoom, typename Prepare, typename VisitPrepared, typename VisitCell>
  bool drain(MakeRoom make_room, Prepare prepare, VisitPrepared visit_prepared,
             VisitCell visit_cell) {
    auto drain_until = [&](std::uint64_t position) {
      return take_queued(position, make_room, prepare, visit_prepared);
    };
    const bool queued = drain_until(queued_.load(std::memory_order_acquire));
    const bool cells = overflow_.take(queue_->spare, make_room, drain_until, visit_cell);
    return queued || cells;
  }

  // The last drain() has left cells, since their owner was busy with one. Thread: the flusher's.
  bool was_busy() const { return overflow_.was_busy(); }

  // Calls ever recorded; of those, calls that went into cells. Thread: any.
  std::uint64_t recorded() const {
    return queued_.load(std::memory_order_acquire) + merged_.load(std::memory_order_acquire);
  }
  std::uint64_t merged() const { return merged_.load(std::memory_order_relaxed); }

  // As Overflow's. Thread: the owner's, in a signal handler that ends the process.
  void release_for_exit() { overflow_.release_for_exit(); }

  // Ownership passes from an ended thread to a new one: released here, acquired there.
  void give_up();
  bool try_take_over() {
    return !owned_.load(std::memory_order_relaxed) &&
           !owned_.exchange(true, std::memory_order_acquire);
  }

  Recorder* next = nullptr;  // in the client's list, which only grows

 private:
  // False if there is no room as far as the owner knows.
  bool enqueue(const Tag* tag, double value, RecordKind kind) {
    const std::uint64_t queued = queued_.load(std::memory_order_relaxed);
    if (queued >= next_look_ || !queue_->enqueue(token_, {tag, value, kind})) return false;
    // Released for drain(): who sees the number finds the records.
    queued_.store(queued + 1, std::memory_order_release);
    doorbell_->ring_if_asleep();
    return true;
  }
  int record_slowly(const Tag* tag, double value, RecordKind kind);
  void look_at_room();
  bool widen_room();

  // The iterator that the queue writes to, as *outlet++ = record.
  template <typename Prepare, typename Prepared>
  struct Outlet {
    const Prepare& prepare;
    Prepared* next;

    Outlet& operator*() { return *this; }
    Outlet& operator++() { return *this; }
    Outlet& operator++(int) { return *this; }
    // NOLINTNEXTLINE(misc-unconventional-assign-operator): an output iterator's
    void operator=(Record&& record) noexcept { *next++ = prepare(record); }
  };

  template <typename MakeRoom, typename Prepare, typename VisitPrepared>
  bool take_queued(std::uint64_t position, MakeRoom& make_room, const Prepare& prepare,
                   VisitPrepared& visit_prepared) {
    using Prepared = std::decay_t<std::invoke_result_t<Prepare, const Record&>>;
    std::uint64_t drained = drained_.load(std::memory_order_relaxed);
    if (drained >= position) return false;
    Prepared some[64];
    while (drained < position) {
      const std::size_t wanted = std::min<std::uint64_t>(position - drained, std::size(some));
      make_room(wanted);
      const Outlet<Prepare, Prepared> outlet{prepare, some};
      const std::size_t got = queue_->try_dequeue_bulk_from_producer(token_, outlet, wanted);
      visit_prepared(std::span<const Prepared>(some, got));
      drained += got;
      drained_.store(drained,
                     std::memory_order_release);  // pairs with the acquire in look_at_room()
    }
    return true;
  }

  // The owner's, in its own cache lines. Others only read the two counts.
  RecordQueue* queue_;
  Doorbell* doorbell_;
  std::uint64_t next_look_ = 0;  // queue up to here without looking at what was drained
  std::atomic<std::uint64_t> queued_{0};
  moodycamel::ProducerToken token_;
  std::uint32_t capacity_;               // as much room as it may ever have
  std::uint32_t room_;                   // records that it may have queued
  std::uint64_t asked_at_ = UINT64_MAX;  // what had been drained when the flusher was last asked
  std::atomic<std::uint64_t> merged_{0};
  Overflow overflow_;
  TagCache tags_;
  OpenTransactions transactions_;
  std::atomic<bool> owned_{true};

  // The flusher's.
  alignas(64) std::atomic<std::uint64_t> drained_{0};
};

}  // namespace pcp::trace::client
