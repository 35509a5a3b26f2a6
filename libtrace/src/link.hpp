// What a caller may know about the agent, and what it may wait for: how the first attempt to
// connect ended, and whether what it recorded was acknowledged. The flusher writes, any thread
// reads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace pcp::trace::client {

class Link {
 public:
  using Clock = std::chrono::steady_clock;

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

  // Asks for the delivery of all that was recorded before and waits. `wake` must wake the flusher.
  // Gives up at the deadline, or, if `give_up_without_agent`, when no agent is connected or being
  // connected, or when `timeout` has passed without any progress.
  template <typename Wake>
  bool flush(std::chrono::nanoseconds timeout, bool give_up_without_agent, Wake wake) {
    const std::uint64_t ticket = requested_.fetch_add(1, std::memory_order_release) + 1;
    wake();
    return wait_for_delivery(ticket, timeout, give_up_without_agent);
  }

  // The rest is the flusher's.
  enum class Agent { Away, Connecting, Connected };
  void set_agent(Agent agent);
  void attempt_ended(int error);  // 0: connected
  void made_progress();

  // Tickets given out so far, and how far they are settled. A ticket fails if something that was
  // sent before it is not certain to have arrived.
  std::uint64_t requested() const { return requested_.load(std::memory_order_acquire); }
  std::uint64_t settled() const { return settled_; }
  void settle(std::uint64_t ticket, bool delivered);

 private:
  bool wait_for_delivery(std::uint64_t ticket, std::chrono::nanoseconds timeout,
                         bool give_up_without_agent);

  std::atomic<int> first_connection_{kUnknown};  // written under mutex_
  std::atomic<bool> reported_{false};            // stands for itself
  std::atomic<std::uint64_t> requested_{0};      // released by flush(), acquired by requested()

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Agent agent_ = Agent::Connecting;
  std::uint64_t settled_ = 0;
  std::uint64_t failed_ = 0;  // the last ticket that failed
  std::uint64_t progress_ = 0;
};

}  // namespace pcp::trace::client
