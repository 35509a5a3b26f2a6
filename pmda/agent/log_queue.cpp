// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/log_queue.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace pcp::trace::agent {

void LogQueue::push(std::string_view text) noexcept {
  {
    const Lock lock(mutex_);
    const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    // After a loss everything is dropped until the next take(), so that the gap is in one place.
    if (queued_.lost_lines > 0) {
      queued_.lost_lines += lines;
      return;
    }
    bool is_lost = queued_.text.size() + text.size() > kMostBytes;
    try {
      if (!is_lost) queued_.text += text;
    } catch (const std::bad_alloc&) {
      is_lost = true;
    }
    if (is_lost) queued_.lost_lines = std::max<std::uint64_t>(lines, 1);
  }
  changed_.notify_one();
}

void LogQueue::wake() {
  {
    const Lock lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

LogQueue::Taken LogQueue::take(Instant until) {
  const Lock lock(mutex_);
  while (!woken_ && queued_.text.empty() && queued_.lost_lines == 0) {
    if (!changed_.wait_until(mutex_, until)) break;
  }
  woken_ = false;
  return std::exchange(queued_, {});
}

}  // namespace pcp::trace::agent
