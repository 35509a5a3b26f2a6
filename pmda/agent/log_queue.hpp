// SPDX-License-Identifier: LGPL-2.1-or-later
// Text on its way to the log, from threads that must not wait for a disk to the one that may. The
// queue is bounded: lines without room are counted, and the count is logged later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class LogQueue {
 public:
  // Room for one line about each client, at the maximum number of clients.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  // Appends the text, or drops all of it. Thread: any.
  void push(std::string_view text) noexcept;

  // Ends the current or next wait in take(). Thread: any.
  void wake();

  struct Taken {
    std::string text;
    std::uint64_t lost_lines = 0;  // after this text
  };
  // Waits for text, for wake() or until a time, and takes the queued text. Thread: the disk thread.
  Taken take(Instant until);

 private:
  Mutex mutex_;  // held for moments only
  Condition changed_;
  Taken queued_ TRACE_GUARDED_BY(mutex_);
  bool woken_ TRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace pcp::trace::agent
