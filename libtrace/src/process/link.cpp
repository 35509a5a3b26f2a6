// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/link.hpp"

#include "pcp/trace.h"
#include "record/no_cancellation.hpp"

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

bool Link::await(std::uint64_t ticket, std::chrono::nanoseconds timeout, Patience patience) {
  const NoCancellation guard;
  return await(ticket, timeout, patience, [&](Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [&] { return is_settled(ticket); });
  });
}

void Link::attempt_ended(int error) {
  const std::lock_guard lock(mutex_);
  if (first_connection() == 0) return;
  first_connection_.store(error, std::memory_order_relaxed);
  changed_.notify_all();
}

// Whoever polls learns it even if the mutex is held by a thread that a signal has interrupted.
void Link::settle(std::uint64_t ticket, bool delivered) {
  if (!delivered) failed_.store(ticket, std::memory_order_relaxed);
  settled_.store(ticket, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace pcp::trace::client
