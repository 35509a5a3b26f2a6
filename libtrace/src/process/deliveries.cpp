// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/deliveries.hpp"

#include "pcp/trace.h"
#include "platform/forks.hpp"
#include "platform/guards.hpp"

namespace pcp::trace::client {

int Deliveries::wait_for_first_attempt(std::chrono::nanoseconds timeout) {
  const NoCancellation guard;
  const WaitInsideFork meanwhile;
  const auto deadline = steady_now() + timeout;
  const Lock lock(mutex_);
  while (connection_outcome() == kUnknown && changed_.wait_until(mutex_, deadline)) continue;
  if (connection_outcome() == kUnknown) set_connection_outcome(PMTRACE_ERR_TIMEOUT);
  return connection_outcome();
}

int Deliveries::report(bool is_async, std::chrono::nanoseconds timeout) {
  const bool is_first = !reported_.exchange(true, std::memory_order_relaxed);
  const int outcome = connection_outcome();
  if (outcome == kUnknown) return wait_for_first_attempt(timeout);
  return is_async && !is_first ? 0 : outcome;
}

bool Deliveries::await(std::uint64_t ticket, std::chrono::nanoseconds timeout, Patience patience) {
  const NoCancellation guard;
  return await(ticket, timeout, patience, [&](Instant deadline) {
    const Lock lock(mutex_);
    while (!is_settled(ticket) && changed_.wait_until(mutex_, deadline)) continue;
    return is_settled(ticket);
  });
}

void Deliveries::attempt_ended(int error) {
  const Lock lock(mutex_);
  if (connection_outcome() == 0) return;
  set_connection_outcome(error);
  changed_.notify_all();
}

// Stores before the lock: a poller sees the result even if an interrupted thread holds the mutex.
void Deliveries::settle(std::uint64_t ticket, bool delivered) {
  if (!delivered) failed_.store(ticket, std::memory_order_relaxed);
  settled_.store(ticket, std::memory_order_release);
  const Lock lock(mutex_);
  changed_.notify_all();
}

}  // namespace pcp::trace::client
