// SPDX-License-Identifier: LGPL-2.1-or-later
// One thread's recorder: its part of the record queue, its overflow cells, tag cache and open
// transactions. Never freed: a new thread takes over an ended thread's recorder.
//
// A recorder lies in memory that the kernel wipes in a forked child. is_alive() detects that with
// one load from a cache line that a call needs anyway.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <concurrentqueue.h>

#include "counts/label_cache.hpp"
#include "counts/overflow.hpp"
#include "counts/queue_record.hpp"
#include "counts/tag_cache.hpp"
#include "open/open_by_name.hpp"
#include "open/open_table.hpp"
#include "spans/kept_traces.hpp"
#include "spans/slow_trees.hpp"
#include "spans/span_pool.hpp"
#include "spans/thread_trace.hpp"
#include "thread/doorbell.hpp"

namespace pcp::trace::client {

struct RecordQueueTraits : moodycamel::ConcurrentQueueDefaultTraits {
  static const std::size_t BLOCK_SIZE = 256;  // 4 KiB
};

using RecordQueue = moodycamel::ConcurrentQueue<Record, RecordQueueTraits>;

// Shared by the recorders of a process: the queue, the room in it and in their tables, and captured
// spans.
class SharedParts {
 public:
  RecordQueue& queue() { return queue_; }

  // Reserves so many records beyond the first room of each thread. False if less is left. Never
  // given back, since the queue does not give its blocks back either. Thread: any.
  bool reserve_room(std::uint64_t records, std::uint64_t of_all);

  BlackBox& box() { return box_; }
  OpenEntries& open_entries() { return open_entries_; }
  const OpenEntries& open_entries() const { return open_entries_; }
  SpanPool& spans() { return spans_; }
  SlowTrees& slow_trees() { return slow_trees_; }
  PublishedCaptures& captures() { return captures_; }

 private:
  RecordQueue queue_{0};
  alignas(64) std::atomic<std::uint64_t> room_taken_{0};  // orders nothing else: relaxed
  OpenEntries open_entries_;
  BlackBox box_;
  SpanPool spans_{box_};
  SlowTrees slow_trees_{spans_, box_};
  PublishedCaptures captures_;
};

class Recorder {
 public:
  // Every thread has room for so many records. A thread that needs more doubles it, up to the
  // capacity, until all doublings together reach kWideThreads times the capacity. Even many threads
  // take little memory.
  static constexpr std::uint32_t kFirstRoom = 256;
  static constexpr std::uint32_t kWideThreads = 3;

  // The moment of this time of the clock for begin_since(); 0 if it is 0, or not in the past.
  static Moment past_moment(std::uint64_t ns) {
    if (ns < kMostSinceOneMoment) [[unlikely]] {
      if (ns == 0) return 0;
      ns = kMostSinceOneMoment;
    }
    return ns < now_ns() ? ns << 1 | 1 : 0;
  }

  Recorder(SharedParts& shared, Doorbell& doorbell, std::uint32_t capacity,
           const TraceOptions& trace_options = kNoTraces)
      : shared_(&shared),
        doorbell_(&doorbell),
        token_(shared.queue()),
        capacity_(capacity),
        room_(std::min(capacity, kFirstRoom)),
        open_(shared.open_entries()),
        trace_(trace_options),
        spans_(shared.spans()) {
    check_room();
  }

  // Records a call. 0, or -ENOMEM if a full thread finds no memory for a new tag. Takes the
  // record's parts, and should be inlined: then they reach the queue from registers. Through memory
  // they would be written one by one and read as a whole, a stall longer than the rest of the call.
  // Thread: the owner's.
  int record(const Tag* tag, double value, RecordKind kind) {
    if (enqueue(tag, value, kind)) [[likely]]
      return 0;
    return record_slowly(tag, value, kind);
  }

  // Enters a new transaction into the table, if there is no trace and nothing else to do. If
  // must_ring() is true afterwards, call undo_begin_quickly() and begin_traced(): only
  // begin_traced() wakes the flusher. Thread: the owner's.
  bool can_begin_quickly(const Tag* tag) const { return open_.has_run() && is_plain(tag); }
  OpenTable::Ref begin_quickly(const Tag* tag, Moment now) { return open_.enter_run(tag, now); }
  bool must_ring() const { return doorbell_->is_asleep(); }
  void undo_begin_quickly() { open_.undo_enter_run(); }

  // Closes the entry if it still holds this transaction, of any thread. Requires: no marks.
  void leave(const Tag* tag, Begun begun) { open_.leave(tag, begun); }

  // True if a transaction of this tag needs no trace and no capture.
  bool is_plain(const Tag* tag) const {
    return trace_.is_plain() && (!has_state(kCapturing) || shared_->captures().is_unmatched(*tag));
  }
  // Begins, plain or not, and wakes a sleeping flusher. Inside of this thread's innermost
  // transaction. Thread: the owner's.
  Traced begin_traced(const Tag* tag) { return begin_inside(tag, trace_.innermost(), false); }
  // The same since an earlier moment of the clock, which becomes up to a microsecond earlier.
  Traced begin_since(const Tag* tag, Moment since) {
    return begin_inside(tag, trace_.innermost(), false, since);
  }
  // The same inside of another transaction, or of none.
  Traced begin_in(const Tag* tag, const ThreadTrace::Parent& parent) {
    return begin_inside(tag, parent, true);
  }
  Traced begin_in_since(const Tag* tag, const ThreadTrace::Parent& parent, Moment since) {
    return begin_inside(tag, parent, true, since);
  }
  // Gives the duration in seconds. `as`: the tag under which it is captured, if at all.
  double end_traced(const OpenTransaction& open, const TraceContext& context, bool aborted) {
    return end_traced(open, context, aborted, open.tag);
  }
  double end_traced(const OpenTransaction& open, const TraceContext& context, bool aborted,
                    const Tag* as);

  // The program wants this captured transaction, of any thread, with its whole request.
  void want(const OpenTransaction& open);

  // Captures this event if a filter wants it.
  void capture_event(const Tag* tag, wire::SpanKind kind, double value);

  // This thread's captured spans. Thread: any, unless Share says otherwise.
  const SpanPool::Share& spans() const { return spans_; }

  // Thread: any.
  const CaptureReads& capture_reads() const { return capture_reads_; }

  // False if there is no memory for its part of the queue.
  bool make_usable() {
    if (!token_.valid()) token_ = moodycamel::ProducerToken(shared_->queue());
    return token_.valid();
  }

  // False in a forked child: this recorder is the parent's.
  bool is_alive() const { return shared_ != nullptr; }

  // True once a connection of the process is known. Thread: the owner's.
  bool is_connection_known = false;

  TagCache& tags() { return tags_; }  // Thread: the owner's.
  LabelCache& labels() { return labels_; }
  OpenByName& transactions() { return transactions_; }

  OpenTable& open() { return open_; }
  ThreadTrace& trace() { return trace_; }  // Thread: the owner's.

  // The thread that began this open transaction; 0 if that thread has ended, or began it since a
  // moment before its own first call. Thread: any.
  std::uint32_t thread_of(Moment begun) const;

  // Records ever queued, and ever taken. Thread: the flusher's.
  std::uint64_t queued() const { return queued_.load(std::memory_order_acquire); }
  std::uint64_t dequeued() const { return dequeued_.load(std::memory_order_relaxed); }

  // Takes so many records in order, as *out++ = record. Requires: so many are queued. Thread: the
  // flusher's.
  template <typename Out>
  std::size_t dequeue(std::size_t wanted, Out out) {
    const std::size_t got = shared_->queue().try_dequeue_bulk_from_producer(token_, out, wanted);
    // Pairs with the acquire in check_room().
    dequeued_.store(dequeued() + got, std::memory_order_release);
    return got;
  }

  // Records beyond the queue's room. Thread: the flusher's, unless Overflow says
  // otherwise.
  Overflow& overflow() { return overflow_; }

  // Calls ever recorded, and how many of those went into cells. Thread: any.
  std::uint64_t recorded() const {
    return queued_.load(std::memory_order_acquire) + merged_.load(std::memory_order_acquire);
  }
  std::uint64_t merged() const { return merged_.load(std::memory_order_relaxed); }

  // See Overflow. Thread: the owner's, in a signal handler that ends the process.
  void release_for_exit() { overflow_.release_for_exit(); }

  // Ownership passes from an ended thread to a new one: give_up() releases, try_take_over()
  // acquires.
  void give_up();
  bool try_take_over() {
    return !owned_.load(std::memory_order_relaxed) &&
           !owned_.exchange(true, std::memory_order_acquire);
  }
  void note_thread();  // sets the calling thread as owner

  Recorder* next = nullptr;  // in the client's list, which only grows

 private:
  // False if the owner knows of no room.
  bool enqueue(const Tag* tag, double value, RecordKind kind) {
    const std::uint64_t queued = queued_.load(std::memory_order_relaxed);
    if (queued >= next_check_ || !shared_->queue().enqueue(token_, {tag, value, kind}))
      return false;
    // Pairs with the acquire in queued(): a reader of the number finds the records.
    queued_.store(queued + 1, std::memory_order_release);
    doorbell_->ring_if_asleep();
    return true;
  }
  int record_slowly(const Tag* tag, double value, RecordKind kind);
  void check_room();
  bool widen_room();
  // An entry's transactions are known by their moments, but many may begin since the same one, such
  // as all requests that a loop found at once.
  Moment unlike_others(Moment since) {
    return since - (Moment{begins_since_++ % kMostSinceOneMoment} << 1);
  }
  Traced begin_inside(const Tag* tag, const ThreadTrace::Parent& parent, bool is_chosen);
  Traced begin_inside(const Tag* tag, const ThreadTrace::Parent& parent, bool is_chosen,
                      Moment since);
  template <typename Start>
  Traced begin_inside(const Tag* tag, const ThreadTrace::Parent& parent, bool is_chosen,
                      Start start);
  TreeRef selected_around(const ThreadTrace::Parent& parent) const;
  CaptureBits left_out_around(const CaptureSet& set, const ThreadTrace::Parent& parent) const;
  struct Chosen {
    CaptureBits bits = 0;
    TreeFacts tree{};
    bool is_left_out = false;  // left out itself, not with its parent
  };
  Chosen choose(const PublishedCaptures::Reader& reader, const Tag* tag,
                const ThreadTrace::Parent& parent, TraceContext& context);
  struct EndedSpan {
    const OpenTransaction& open;
    const TraceContext& context;
    const Tag* tag;  // at its end
    std::unique_ptr<SpanNotes> notes;
    std::uint64_t duration_ns = 0;
    std::uint32_t tid = 0;
    wire::SpanKind kind{};
    bool aborted = false;
    SlowTrees::Snapshot tree;
    CaptureBits bits = 0;
    SlowTrees::WaitingSpans waiting{};
    bool is_part = false;  // still counted by the one around
  };
  void note_reason(TreeRef at, std::uint32_t reason);
  void capture_span(const CaptureSet& set, EndedSpan& ended);
  void send_or_wait(const CaptureSet& set, SpanPool::Index list, SpanPool::Facts facts,
                    std::uint64_t since_ns, bool& is_part);

  // The owner's cache lines. Other threads only read the two counts.
  SharedParts* shared_;
  Doorbell* doorbell_;
  std::uint64_t next_check_ = 0;          // below this, queue without reading dequeued_
  std::atomic<std::uint64_t> queued_{0};  // released by enqueue(), acquired by queued()
  moodycamel::ProducerToken token_;
  std::uint32_t capacity_;                // most records that it may ever have queued
  std::uint32_t room_;                    // records that it may have queued
  std::uint64_t asked_at_ = UINT64_MAX;   // dequeued_ when the flusher was last asked
  std::atomic<std::uint64_t> merged_{0};  // released before the cell, acquired by recorded()
  Overflow overflow_;
  TagCache tags_;
  LabelCache labels_;
  OpenByName transactions_;
  OpenTable open_;
  ThreadTrace trace_;
  SpanPool::Share spans_;
  CaptureReads capture_reads_{0};
  static constexpr std::uint32_t kMostSinceOneMoment = 1024;
  std::uint32_t begins_since_ = 0;
  std::atomic<bool> owned_{true};  // released by give_up(), acquired by try_take_over()

  // The owner's number, and since when; 0: none. Each orders nothing else: a read between the two
  // stores gives a wrong thread at worst.
  std::atomic<std::uint32_t> thread_{0};
  std::atomic<Moment> owned_since_{0};

  // The flusher's. Released by dequeue(), acquired by check_room().
  alignas(64) std::atomic<std::uint64_t> dequeued_{0};
};

}  // namespace pcp::trace::client
