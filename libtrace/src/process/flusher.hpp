// SPDX-License-Identifier: LGPL-2.1-or-later
// The work of the library's own thread: drains the threads' recorders, adds up per tag, and has the
// output deliver. Decides when to do what, but never waits itself: FlusherThread calls it, and it
// says when to call next.
//
// Thread: the one that runs the flusher, see client.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "counts/pending.hpp"
#include "link/output.hpp"
#include "mmv/mmv.hpp"
#include "mmv/mmv_totals.hpp"
#include "process/deliveries.hpp"
#include "process/outbox.hpp"
#include "thread/doorbell.hpp"
#include "thread/recorder.hpp"
#include "thread/recorders.hpp"

namespace pcp::trace::client {

// Moves records from a thread's recorder into Pending, and adds them to what an MMV file shows.
class Drain {
 public:
  // `totals` may be null.
  explicit Drain(Pending& pending, MmvTotals* totals = nullptr)
      : pending_(pending), totals_(totals) {}

  // Takes the records up to now, in order; bounded even if the owner never pauses. True if there
  // were any. Throws if there is no memory: the rest stays in the recorder. Cells also stay there
  // while their owner is busy (was_busy()).
  bool drain(Recorder& recorder, std::uint64_t now_ns);

  // Takes new descriptions. True if one must be sent without a call; a tag without calls is
  // described with its first call. Requires: after drain().
  bool drain_descriptions();

 private:
  void make_room(std::size_t records);
  bool drain_records(Recorder& recorder, std::uint64_t until, std::uint64_t now_ns);
  bool drain_cells(Overflow& overflow, std::uint64_t now_ns);

  Pending& pending_;
  MmvTotals* const totals_;
  OverflowSlab spare_;  // empty; exchanged with each thread's slab
};

class Flusher {
 public:
  // Shared with the program's threads.
  struct Shared {
    Recorders& recorders;
    Doorbell& doorbell;
    Deliveries& deliveries;
  };

  // Its view of the process; a test supplies its own.
  struct Platform {
    ReadClock now_ns;
    std::function<void(std::chrono::nanoseconds)> pause;  // sleeps
    std::function<bool()> has_main_left;
    std::function<bool()> is_last_thread;
  };

  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;
  Flusher(const Shared& shared, Outbox& outbox, Output& output,
          std::chrono::nanoseconds flush_interval, Platform platform, Mmv* mmv = nullptr);

  // A ring. Urgent: drains at once.
  void on_bell(bool is_urgent);

  // The time of next_call_ns() has come. Earlier or more often is fine.
  void on_timer();
  std::uint64_t next_call_ns() const;

  // The output's descriptor is ready, or may be.
  void on_output_ready();

  // Main has left, and no other program thread lives: nothing to do until the next bell.
  bool has_left() const { return has_left_; }

  // Call after an exception for lack of memory. Pending entries are intact.
  void recover();

 private:
  void take_news();
  void flush();
  void fall_asleep();
  void leave_if_last();
  bool drain();           // true if anything was recorded, or described
  bool drain_and_look();  // the same, or if open transactions changed
  void step();

  void take_flush_request();
  void settle_flush_request();
  void close_flush_request(bool delivered);
  std::uint64_t after(std::chrono::nanoseconds delay) const;

  const Shared shared_;
  Outbox& outbox_;
  Mmv* const mmv_;  // null: no MMV file
  Drain drain_;
  Output& output_;
  const std::chrono::nanoseconds flush_interval_;
  const Platform platform_;

  std::uint64_t next_flush_ns_ = kNever;
  std::uint64_t next_end_look_ns_ = kNever;  // next is_last_thread(), once main has left
  bool has_left_ = false;
  bool has_drained_all_ = true;             // in the last drain()
  std::uint64_t flushed_until_ = 0;         // entries of outbox_.pending that may leave
  int idle_rounds_ = 0;                     // flush intervals in a row without records
  std::chrono::nanoseconds poll_interval_;  // grows while there is nothing to do and no bell
  std::uint64_t settled_calls_ = 0;         // settled when waiters last heard of progress

  // The flush that threads wait for.
  struct FlushRequest {
    std::uint64_t ticket;
    std::uint64_t until;     // entries of outbox_.pending that it covers
    std::uint64_t doubtful;  // calls, when it began
    std::uint64_t spans;     // captured spans that it covers
    bool at_end;             // covers all of an ending process
    bool is_whole;           // no thread was in the middle of a call
  };
  std::optional<FlushRequest> request_;
};

}  // namespace pcp::trace::client
