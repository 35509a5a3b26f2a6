// SPDX-License-Identifier: LGPL-2.1-or-later
// Text on its way to the log, from threads that must not wait for a disk to the one that may. It is
// bounded: lines for which there is no room are counted, and the count is said when there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "collector/engine/types.hpp"
#include "wire/mutex.hpp"

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
  Mutex mutex_;  // held for moments only
  Condition changed_;
  Taken queued_ TRACE_GUARDED_BY(mutex_);
  bool woken_ TRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace pcp::trace::agent
