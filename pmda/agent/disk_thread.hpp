// SPDX-License-Identifier: LGPL-2.1-or-later
// The thread that may wait for a disk, so that no other one has to: a disk may take its time, and
// pmcd drops an agent that is silent for five seconds. It saves the instance numbers and writes the
// log. All that this process says on standard error, which is the log, is queued for it, PCP's
// libraries' words included.
//
// Thread: the main one, where nothing else is said.
#pragma once

#include <atomic>
#include <cstdio>
#include <future>
#include <thread>

#include "agent/log_queue.hpp"
#include "agent/number_keeper.hpp"

namespace pcp::trace::agent {

class DiskThread {
 public:
  // Requires: the log is open. One at a time in a process.
  explicit DiskThread(NumberKeeper& numbers);

  // Waits until the numbers are saved and all is written.
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  // Returns when the numbers were saved once, or could not be, or the disk has had so much time.
  void wait_for_first_save(Time at_most) const { first_saved_.wait_for(at_most); }

  // New numbers may have been seen: saves them soon. Thread: any.
  void save_numbers() { queue_.wake(); }

 private:
  void run();
  void write(const LogQueue::Taken& taken);

  NumberKeeper& numbers_;
  LogQueue queue_;
  std::FILE* const log_;             // what stderr was, and will be
  std::FILE* const stand_in_;        // what stderr is
  std::atomic<bool> ending_{false};  // partner: run() reads it after queue_.wake()
  std::promise<void> first_save_;
  const std::future<void> first_saved_ = first_save_.get_future();
  std::thread thread_;
};

}  // namespace pcp::trace::agent
