#include "link.hpp"

#include "no_cancellation.hpp"
#include "pcp/trace.h"

namespace pcp::trace::client {
int Link::wait_for_first_attempt(std::chrono::nanoseconds timeout) {
  const NoCancellation guard;
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, Clock::now() + timeout,
                           [&] { return first_connection() != kUnknown; }))
    first_connection_.store(PMTRACE_ERR_TIMEOUT, std::memory_order_relaxed);
  return first_connection();
}

int Link::report(bool is_async, std::chrono::nanoseconds timeout) {
  const bool is_first = !reported_.exchange(true, std::memory_order_relaxed);
  const int outcome = first_connection();
  if (outcome == kUnknown) return wait_for_first_attempt(timeout);
  return is_async && !is_first ? 0 : outcome;
}

bool Link::wait_for_delivery(std::uint64_t ticket, std::chrono::nanoseconds timeout,
                             bool give_up_without_agent) {
  const NoCancellation guard;
  std::unique_lock lock(mutex_);
  auto deadline = Clock::now() + timeout;
  std::uint64_t seen_progress = progress_;
  while (settled_ < ticket) {
    if (give_up_without_agent && agent_ == Agent::Away) return false;
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && settled_ < ticket) {
      if (!give_up_without_agent || progress_ == seen_progress) return false;
      seen_progress = progress_;
      deadline = Clock::now() + timeout;
    }
  }
  return failed_ < ticket;
}

void Link::set_agent(Agent agent) {
  const std::lock_guard lock(mutex_);
  agent_ = agent;
  changed_.notify_all();
}

void Link::attempt_ended(int error) {
  const std::lock_guard lock(mutex_);
  if (first_connection() == 0) return;
  first_connection_.store(error, std::memory_order_relaxed);
  changed_.notify_all();
}

void Link::made_progress() {
  const std::lock_guard lock(mutex_);
  ++progress_;
}

void Link::settle(std::uint64_t ticket, bool delivered) {
  const std::lock_guard lock(mutex_);
  settled_ = ticket;
  if (!delivered) failed_ = ticket;
  changed_.notify_all();
}

}  // namespace pcp::trace::client
