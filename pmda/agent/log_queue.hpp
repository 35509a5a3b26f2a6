// SPDX-License-Identifier: LGPL-2.1-or-later
// Text on its way to the log, from threads that must not wait for a disk to the one that may. It is
// bounded: lines for which there is no room are counted, and the count is said when there is.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class LogQueue {
 public:
  // Room for a line about each of as many clients as there may be.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  // Puts text at the end, whole or not at all. Thread: any.
  void push(std::string_view text) noexcept;

  // Ends a wait in take(), now or the next one. Thread: any.
  void wake();

  struct Taken {
    std::string text;
    std::uint64_t lost_lines = 0;  // after this text
  };
  // Waits for text, for wake(), or until a time, and takes what is there. Thread: the one that
  // writes.
  Taken take(Time until);

 private:
  std::mutex mutex_;  // guards all below, for moments only
  std::condition_variable changed_;
  Taken queued_;
  bool woken_ = false;
};

}  // namespace pcp::trace::agent
