// SPDX-License-Identifier: LGPL-2.1-or-later
// The flusher's news for callers: how the first connection attempt ended, and whether
// their records were acknowledged. The flusher writes, any thread reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"
#include "base/mutex.hpp"

namespace pcp::trace::client {

class Deliveries {
 public:
  // The outcome of the first connection; until then the last attempt's error.
  static constexpr int kUnknown = 1;  // no attempt has ended yet
  int connection_outcome() const { return connection_outcome_.load(std::memory_order_relaxed); }

  // Waits for the end of the first attempt and gives its outcome. After the timeout:
  // PMTRACE_ERR_TIMEOUT, also for later callers until the attempt ends.
  int wait_for_first_attempt(std::chrono::nanoseconds timeout);

  // The result of a call by name. The first call waits for the first attempt. Later calls give the
  // last attempt's outcome until a connection was made; 0 if `is_async`.
  int report(bool is_async, std::chrono::nanoseconds timeout);

  // Progress: the timeout restarts after each step forward, and the wait ends if no agent can be
  // reached.
  enum class Patience { Fixed, Progress };

  // Marks a thread that waits for a delivery, or is about to request one.
  class Waiter {
   public:
    Waiter(Deliveries& deliveries, Patience patience)
        : deliveries_(deliveries), hurries_(patience == Patience::Progress ? 1 : 0) {
      deliveries_.waiters_.fetch_add(1);
      deliveries_.hurrying_.fetch_add(hurries_);
    }
    ~Waiter() {
      deliveries_.hurrying_.fetch_sub(hurries_);
      deliveries_.waiters_.fetch_sub(1);
    }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    Deliveries& deliveries_;
    const int hurries_;
  };

  // Requests delivery of all earlier records. Gives a ticket that the flusher settles; the caller
  // must wake the flusher.
  std::uint64_t request_delivery() {
    return requested_.fetch_add(1, std::memory_order_release) + 1;
  }

  // The process ends, and this thread records nothing more. Thread: any.
  void say_end() { is_ending_.store(true, std::memory_order_release); }

  // A patient wait is over after so many parts of the timeout in a row without progress. A time in
  // which the whole machine stood still uses up only one part.
  static constexpr int kParts = 20;

  // Waits until the ticket is settled. True if everything it covers has certainly arrived. `pause`
  // waits for a change until the given time at most, and gives false after that time. A caller that
  // may not lock supplies its own `pause`.
  template <typename Pause>
  bool await(std::uint64_t ticket, std::chrono::nanoseconds timeout, Patience patience,
             Pause pause) {
    const int parts = patience == Patience::Progress ? kParts : 1;
    for (int left = parts; left > 0 && !is_settled(ticket);) {
      const std::uint64_t before = progress_.load(std::memory_order_relaxed);
      const Instant end = steady_now() + timeout / parts;
      while (!is_settled(ticket) && pause(end) && steady_now() < end) continue;
      const bool restarts =
          patience == Patience::Progress && progress_.load(std::memory_order_relaxed) != before;
      left = restarts ? parts : left - 1;
    }
    return is_settled(ticket) && failed_.load(std::memory_order_relaxed) < ticket;
  }

  // The same, with a `pause` that sleeps until a ticket is settled.
  bool await(std::uint64_t ticket, std::chrono::nanoseconds timeout, Patience patience);

  // Thread below: the flusher's.
  void attempt_ended(int error);  // 0: connected
  void made_progress() { progress_.fetch_add(1, std::memory_order_relaxed); }

  // seq_cst: a later waiter must see that no flusher runs.
  bool has_waiters() const { return waiters_.load() > 0; }

  // A thread waits only while an agent can be reached.
  bool is_hurried() const { return hurrying_.load() > 0; }

  bool is_ending() const { return is_ending_.load(std::memory_order_acquire); }

  // The last ticket given out, and the last one settled. A ticket fails if an earlier record is not
  // certain to have arrived.
  std::uint64_t requested() const { return requested_.load(std::memory_order_acquire); }
  std::uint64_t settled() const { return settled_.load(std::memory_order_acquire); }
  bool is_settled(std::uint64_t ticket) const { return settled() >= ticket; }
  void settle(std::uint64_t ticket, bool delivered);

 private:
  void set_connection_outcome(int outcome) TRACE_REQUIRES(mutex_) {
    connection_outcome_.store(outcome, std::memory_order_relaxed);
  }

  std::atomic<int> connection_outcome_{kUnknown};  // see set_connection_outcome()
  std::atomic<bool> reported_{false};              // orders nothing else
  std::atomic<std::uint64_t> requested_{
      0};                               // released by request_delivery(), acquired by requested()
  std::atomic<bool> is_ending_{false};  // released by say_end(), acquired by is_ending()
  std::atomic<std::uint64_t> settled_{0};   // released by settle(), acquired by is_settled()
  std::atomic<std::uint64_t> failed_{0};    // the last ticket that failed; written before settled_
  std::atomic<std::uint64_t> progress_{0};  // steps forward; orders nothing else

  // Written by Waiter, read by has_waiters() and is_hurried(); sequentially consistent.
  std::atomic<int> waiters_{0};
  std::atomic<int> hurrying_{0};

  // Guards the step from a check of the above to the wait for a change.
  Mutex mutex_;
  ConditionVariable changed_;
};

}  // namespace pcp::trace::client
