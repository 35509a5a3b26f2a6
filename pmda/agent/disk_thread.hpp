// SPDX-License-Identifier: LGPL-2.1-or-later
// The only thread that may wait for a disk: pmcd drops an agent that is silent for five seconds,
// and a disk may be slower. The thread saves the instance numbers and writes the log. All text for
// standard error, which is the log, is queued for this thread, including the messages of PCP's
// libraries.
//
// Thread: the main one, except where noted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "agent/number_keeper.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"

namespace pcp::trace::agent {

// Text on its way to the log. The queue is bounded: lines without room are counted, and the count
// is logged later.
class LogQueue {
 public:
  // Room for one line about each client, at the maximum number of clients.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  // Appends the text, or drops all of it. Thread: any.
  void push(std::string_view text) noexcept;

  // Ends the current or next wait in pop(). Thread: any.
  void wake();

  struct Popped {
    std::string text;
    std::uint64_t lost_lines = 0;  // after this text
  };
  // Waits for text, for wake() or until a time, and takes the queued text. Thread: the disk thread.
  Popped pop(Instant until);

 private:
  Mutex mutex_;  // held for moments only
  ConditionVariable changed_;
  Popped queued_ TRACE_GUARDED_BY(mutex_);
  bool woken_ TRACE_GUARDED_BY(mutex_) = false;
};

class DiskThread {
 public:
  // Requires: the log is open. Only one DiskThread at a time per process.
  explicit DiskThread(NumberKeeper& numbers);

  // Waits until the numbers are saved and the queue is written.
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  // Returns after the first attempt to save the numbers, or after `at_most`.
  void wait_for_first_save(Duration at_most) const { first_saved_.wait_for(at_most); }

  // New numbers may have been seen: saves them soon. Thread: any.
  void save_numbers() { queue_.wake(); }

 private:
  void run();
  void write(const LogQueue::Popped& taken);

  NumberKeeper& numbers_;
  LogQueue queue_;
  std::FILE* const log_;             // the usual stderr
  std::FILE* const stand_in_;        // stderr while this object exists
  std::atomic<bool> ending_{false};  // pairs with the read in run() after queue_.wake()
  std::promise<void> first_save_;
  const std::future<void> first_saved_ = first_save_.get_future();
  std::thread thread_;
};

}  // namespace pcp::trace::agent
