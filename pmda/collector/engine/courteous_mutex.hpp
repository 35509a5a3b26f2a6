// SPDX-License-Identifier: LGPL-2.1-or-later
// A mutex with a side that goes first. The main thread, which a fetch waits for, locks it as usual.
// The other threads take it only when that side does not want it: the one for the disk for a short
// step now and then, and the ingest thread, which would have it nearly all the time under load, so
// that it asks wanted() at each step of its work to give it up soon. So a fetch waits for one step;
// and it never waits for a thread that has been given the mutex but does not get a processor to use
// it, as it would if each side went
// first every other time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "wire/mutex.hpp"

namespace pcp::trace::agent {

class TRACE_LOCKABLE CourteousMutex {
 public:
  void lock() TRACE_ACQUIRES() TRACE_UNCHECKED {
    ++waiting_;
    std::unique_lock guard(guard_);
    changed_.wait(guard, [this] { return !held_; });
    held_ = true;
    --waiting_;
  }

  // Lets everybody in first who is in lock().
  void lock_courteously() TRACE_ACQUIRES() TRACE_UNCHECKED {
    std::unique_lock guard(guard_);
    changed_.wait(guard, [this] { return !held_ && !wanted(); });
    held_ = true;
  }

  void unlock() TRACE_RELEASES() TRACE_UNCHECKED {
    {
      const std::lock_guard guard(guard_);
      held_ = false;
    }
    changed_.notify_all();
  }

  // Somebody is in lock(). Only a hint: it may be over, or just begin.
  bool wanted() const { return waiting_.load(std::memory_order_relaxed) > 0; }

 private:
  std::mutex guard_;  // for moments only
  std::condition_variable changed_;
  bool held_ = false;
  std::atomic<unsigned> waiting_{0};
};

// As Lock, but lets everybody in first who locks plainly.
class TRACE_SCOPED_LOCK CourteousLock {
 public:
  explicit CourteousLock(CourteousMutex& mutex) TRACE_ACQUIRES(mutex) : mutex_(mutex) {
    mutex_.lock_courteously();
  }
  ~CourteousLock() TRACE_RELEASES() { mutex_.unlock(); }
  CourteousLock(const CourteousLock&) = delete;
  CourteousLock& operator=(const CourteousLock&) = delete;

 private:
  CourteousMutex& mutex_;
};

}  // namespace pcp::trace::agent
