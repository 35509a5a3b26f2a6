// SPDX-License-Identifier: LGPL-2.1-or-later
// How a call wakes the flusher.
//
// The flusher that runs out of work says that it will sleep, makes every running thread see that
// (membarrier), looks at the queues once more and sleeps. A caller pays one relaxed load after its
// enqueue; only the one that finds the flusher asleep makes system calls.
//
// Whoever rings also sees to it that somebody runs the flusher. So a process whose flusher could
// not be started, or has left, counts as one whose flusher is asleep: the next call tries again.
#pragma once

#include <atomic>

namespace pcp::trace::client {

class Doorbell {
 public:
  // Sees to it that somebody runs the flusher. False if nobody does. Thread: any.
  using EnsureFlusher = bool (*)();

  // Without descriptors: the flusher makes them.
  explicit Doorbell(EnsureFlusher ensure_flusher = [] { return true; })
      : ensure_flusher_(ensure_flusher) {}

  // Thread: any. Requires: what the flusher is to see, a record or an open transaction, is where it
  // looks.
  void ring_if_asleep() {
    if (is_asleep()) [[unlikely]]
      wake_sleeper();
  }
  bool is_asleep() const {
    // The store of the enqueue comes before this load: here for the compiler, and for the processor
    // by the membarrier in prepare_to_sleep().
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return asleep_.load(std::memory_order_relaxed);
  }

  // Wakes the flusher, asleep or not, to look at the queues at once: one of them fills up, or
  // somebody waits for a flush. Thread: any.
  void ring();

  // Has somebody run the flusher, now or with one of the next calls. Thread: any.
  void see_to_flusher();

  // As ring(), for a signal handler: starts no flusher.
  void ring_only();

  // Thread: the flusher's, as all below. False if callers cannot be made to notice: poll instead.
  // When true, look at the queues once more before you sleep.
  bool prepare_to_sleep();

  // The same before the flusher leaves, whether or not callers notice at once.
  void prepare_to_leave() {
    if (!prepare_to_sleep()) asleep_.store(true, std::memory_order_relaxed);
  }
  void stay_awake() { asleep_.store(false, std::memory_order_relaxed); }

  // Readable after a ring; -1: none. Once the other end is closed, by a program that closes what it
  // does not know, it has hung up.
  int descriptor() const { return heard_.load(std::memory_order_relaxed); }

  // Makes the descriptors, or new ones after the program has closed them. If there are none to be
  // had the flusher must poll. Earlier rings are lost: look at the queues afterwards.
  void renew();

  // From now on there are none.
  void remove();

  bool is_rung() const;  // not taken back yet

  // Takes the ring back. True if it was a ring(), and not only a sleeper's wake-up, after which the
  // caller had better be left alone: looking at what it is just writing would slow it down.
  bool silence();

  // The last ring could not be taken back, and not since the program has closed the descriptor: a
  // sandbox forbids it.
  bool is_stuck() const { return is_stuck_; }

 private:
  void wake_sleeper();
  void write_ring();

  const EnsureFlusher ensure_flusher_;
  // The two ends of a pair of sockets. Not an eventfd: of two ends one can tell that the other was
  // closed, and a byte that is sent to a socket never ends up in a file that took its number.
  // Stand for themselves.
  std::atomic<int> rung_{-1};
  std::atomic<int> heard_{-1};
  bool is_registered_ = false;  // for membarrier; the flusher's
  bool is_stuck_ = false;
  std::atomic<bool> is_urgent_{
      false};  // stands for itself: the ring that follows it is a system call
  alignas(64) std::atomic<bool> asleep_{false};
};

}  // namespace pcp::trace::client
