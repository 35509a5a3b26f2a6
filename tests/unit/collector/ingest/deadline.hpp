// SPDX-License-Identifier: LGPL-2.1-or-later
// The time that a test waits for something that must happen.
#pragma once

#include <chrono>
#include <thread>

namespace pcp::trace::agent {

inline constexpr std::chrono::milliseconds kDeadline{120'000};

// Waits until the condition holds. False at the deadline.
template <typename ConditionVariable>
bool eventually(ConditionVariable condition) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace pcp::trace::agent
