// SPDX-License-Identifier: LGPL-2.1-or-later
// What a caller may know about the agent, and what it may wait for: how the first attempt to
// connect ended, and whether what it recorded was acknowledged. The flusher writes, any thread
// reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "wire/mutex.hpp"
#include "wire/steady_clock.hpp"

namespace pcp::trace::client {

class Link {
 public:
  // The outcome of the first connection. Before one was made it is the last attempt's error.
  static constexpr int kUnknown = 1;  // no attempt has ended yet
  int first_connection() const { return first_connection_.load(std::memory_order_relaxed); }

  // Waits for the end of the first attempt and gives its outcome; PMTRACE_ERR_TIMEOUT when the time
  // is over, to this caller and to all later ones until the attempt ends.
  int wait_for_first_attempt(std::chrono::nanoseconds timeout);

  // What a call by name tells the program. The first call waits for the first attempt; later ones
  // give the outcome of the last one until a connection has been made, and nothing at all if
  // `is_async`.
  int report(bool is_async, std::chrono::nanoseconds timeout);

  // While it lives, somebody waits for a delivery, or is about to ask for one.
  class Waiter {
   public:
    explicit Waiter(Link& link) : link_(link) { link_.waiters_.fetch_add(1); }
    ~Waiter() { link_.waiters_.fetch_sub(1); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    Link& link_;
  };

  // Asks for the delivery of all that was recorded before. The flusher, which the caller must wake,
  // settles the ticket that this gives.
  std::uint64_t request_delivery() {
    return requested_.fetch_add(1, std::memory_order_release) + 1;
  }

  // The process ends: what this thread has recorded by now is its last. Thread: any.
  void say_end() { is_ending_.store(true, std::memory_order_release); }

  // How long a wait may take: with `Progress` its time begins anew when something was delivered.
  enum class Patience { Fixed, Progress };

  // Waits until the ticket is settled, and tells whether all that it covers has certainly arrived.
  // `pause` waits until something may have happened, at most until the time it is given, and gives
  // false when that is over. It is what makes this usable where no lock may be taken.
  template <typename Pause>
  bool await(std::uint64_t ticket, std::chrono::nanoseconds timeout, Patience patience,
             Pause pause) {
    SteadyTime deadline = present_time() + timeout;
    while (!is_settled(ticket)) {
      if (pause(deadline) && present_time() < deadline) continue;  // much may happen in vain
      if (is_settled(ticket)) break;
      const SteadyTime later =
          steady_time(last_progress_ns_.load(std::memory_order_relaxed)) + timeout;
      if (patience == Patience::Fixed || later <= deadline) return false;
      deadline = later;
    }
    return failed_.load(std::memory_order_relaxed) < ticket;
  }

  // The same, asleep until the flusher settles a ticket.
  bool await(std::uint64_t ticket, std::chrono::nanoseconds timeout, Patience patience);

  // The rest is the flusher's.
  void attempt_ended(int error);  // 0: connected
  void made_progress() { last_progress_ns_.store(now_ns(), std::memory_order_relaxed); }

  // Not relaxed: who comes after this answer was given rings the bell, and finds that nobody runs
  // the flusher any more.
  bool has_waiters() const { return waiters_.load() > 0; }

  bool is_ending() const { return is_ending_.load(std::memory_order_acquire); }

  // Tickets given out so far, and how far they are settled. A ticket fails if something that was
  // sent before it is not certain to have arrived.
  std::uint64_t requested() const { return requested_.load(std::memory_order_acquire); }
  std::uint64_t settled() const { return settled_.load(std::memory_order_acquire); }
  bool is_settled(std::uint64_t ticket) const { return settled() >= ticket; }
  void settle(std::uint64_t ticket, bool delivered);

 private:
  void set_first_connection(int outcome) TRACE_REQUIRES(mutex_) {
    first_connection_.store(outcome, std::memory_order_relaxed);
  }

  std::atomic<int> first_connection_{kUnknown};  // see set_first_connection()
  std::atomic<bool> reported_{false};            // stands for itself
  std::atomic<std::uint64_t> requested_{
      0};                               // released by request_delivery(), acquired by requested()
  std::atomic<bool> is_ending_{false};  // released by say_end(), acquired by is_ending()
  std::atomic<std::uint64_t> settled_{0};  // released by settle(), acquired by is_settled()
  std::atomic<std::uint64_t> failed_{0};   // the last ticket that failed; written before settled_
  std::atomic<std::uint64_t> last_progress_ns_{0};  // stands for itself

  std::atomic<int> waiters_{0};  // written by Waiter, read by has_waiters()

  // Between a look at the above and the wait for a change.
  Mutex mutex_;
  Condition changed_;
};

}  // namespace pcp::trace::client
