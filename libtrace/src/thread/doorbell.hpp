// SPDX-License-Identifier: LGPL-2.1-or-later
// How a call wakes the flusher.
//
// A flusher without work says that it will sleep, makes every running thread see that (membarrier),
// looks at the queues once more and sleeps. A caller pays one relaxed load after its enqueue. Only
// a caller that finds the flusher asleep makes system calls.
//
// A ring also ensures that a thread runs the flusher. A process whose flusher could not be started,
// or has left, counts as asleep: the next call tries again.
#pragma once

#include <atomic>
#include <chrono>

#include "platform/own_descriptor.hpp"

namespace pcp::trace::client {

class Doorbell {
 public:
  // Ensures that a thread runs the flusher. False if none does. Thread: any.
  using EnsureFlusher = bool (*)();

  // Without descriptors: renew() makes them.
  explicit Doorbell(EnsureFlusher ensure_flusher = [] { return true; })
      : ensure_flusher_(ensure_flusher) {}

  // Thread: any. Requires: the record or open transaction is already where the flusher looks.
  void ring_if_asleep() {
    if (is_asleep()) [[unlikely]]
      wake_sleeper();
  }
  bool is_asleep() const {
    // The store of the enqueue comes before this load: for the compiler by this fence, for the
    // processor by the membarrier in prepare_to_sleep().
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return asleep_.load(std::memory_order_relaxed);
  }

  // Wakes the flusher, asleep or not, to look at the queues at once: a queue fills up, or a thread
  // waits for a flush. Thread: any.
  void ring();

  // Starts the flusher if no thread runs it; if that fails, the next call tries. Thread: any.
  void see_to_flusher();

  // Like ring(), for a signal handler: starts no flusher.
  void ring_only();

  // Thread: the flusher's, also below. False if membarrier does not work: poll instead. If true,
  // look at the queues once more before you sleep.
  bool prepare_to_sleep();

  // The same before the flusher leaves, even without membarrier.
  void prepare_to_leave() {
    if (!prepare_to_sleep()) asleep_.store(true, std::memory_order_relaxed);
  }
  void stay_awake() { asleep_.store(false, std::memory_order_relaxed); }

  // Readable after a ring; -1: none. Hangs up if the program closes the other end.
  int descriptor() const { return heard_.number(); }

  // True if the program has closed one of the descriptors: renew().
  bool is_lost() const { return heard_.is_lost() || rung_.is_lost(); }

  // Makes the descriptors, or new ones after the program closed them. If that fails the flusher
  // must poll. Earlier rings are lost: look at the queues afterwards.
  void renew();

  // Closes the descriptors.
  void remove();

  bool is_rung() const;  // a ring that silence() has not read yet

  // Waits for a ring, less than a second, where poll() is forbidden. False if there was none.
  bool await_ring(std::chrono::nanoseconds longest) const;

  // Reads all rings. True if one was a ring(): drain now. False if a call only woke the flusher:
  // drain later, because draining slows down a thread that is recording.
  bool silence();

  // It would ring for ever: a sandbox forbids reading it, or the program has shut it down.
  bool is_stuck() const { return is_stuck_ && !is_lost(); }

 private:
  void wake_sleeper();
  void write_ring();

  const EnsureFlusher ensure_flusher_;
  // A socket pair, not an eventfd: one end can tell that the other was closed, and a byte sent to a
  // socket never ends up in a file that took its number.
  OwnDescriptor rung_;
  OwnDescriptor heard_;
  bool is_registered_ = false;  // for membarrier; the flusher's
  bool is_stuck_ = false;
  std::atomic<bool> is_urgent_{
      false};  // orders nothing else: the ring that follows is a system call
  alignas(64) std::atomic<bool> asleep_{false};
};

}  // namespace pcp::trace::client
