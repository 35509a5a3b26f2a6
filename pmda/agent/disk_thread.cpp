// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/disk_thread.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "agent/log.hpp"
#include "base/descriptor.hpp"

namespace pcp::trace::agent {

namespace {

constexpr Instant kNow{};

ssize_t push(void* queue, const char* text, std::size_t size) {
  static_cast<LogQueue*>(queue)->push({text, size});
  return static_cast<ssize_t>(size);
}

// Returns a stream whose lines go into the queue.
std::FILE* open_queue(LogQueue& queue) {
  std::FILE* const stream = fopencookie(&queue, "w", {nullptr, push, nullptr, nullptr});
  if (stream == nullptr) throw std::bad_alloc();
  std::setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
  return stream;
}

}  // namespace

void LogQueue::push(std::string_view text) noexcept {
  {
    const Lock lock(mutex_);
    const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    // After a loss everything is dropped until the next pop(), so that the gap is in one place.
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

LogQueue::Popped LogQueue::pop(Instant until) {
  const Lock lock(mutex_);
  while (!woken_ && queued_.text.empty() && queued_.lost_lines == 0) {
    if (!changed_.wait_until(mutex_, until)) break;
  }
  woken_ = false;
  return std::exchange(queued_, {});
}

DiskThread::DiskThread(NumberKeeper& numbers)
    : numbers_(numbers), log_(stderr), stand_in_(open_queue(queue_)) {
  std::fflush(log_);
  stderr = stand_in_;
  thread_ = std::thread([this] { run(); });
}

DiskThread::~DiskThread() {
  ending_ = true;
  queue_.wake();
  thread_.join();
  stderr = log_;
  std::fclose(stand_in_);
  write(queue_.pop(kNow));
}

void DiskThread::run() {
  pthread_setname_np(pthread_self(), "disk");
  Instant next = kNow;
  for (bool first = true, last = false; !last; first = false) {
    last = ending_;
    try {
      write(queue_.pop(last ? kNow : next));
      if (last)
        numbers_.save_at_end();
      else
        next = numbers_.save_new();
    } catch (const std::exception& problem) {
      next = kNever;
      log_error(std::string("error in the disk thread: ") + problem.what());
    }
    if (first) first_save_.set_value();
  }
}

void DiskThread::write(const LogQueue::Popped& taken) {
  static_cast<void>(write_all(STDERR_FILENO, taken.text));  // a failure is most likely a full disk
  if (taken.lost_lines > 0)
    log_warning(std::to_string(taken.lost_lines) +
                " lines are missing here, because the log could not be written in time");
}

}  // namespace pcp::trace::agent
