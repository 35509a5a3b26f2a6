// SPDX-License-Identifier: LGPL-2.1-or-later
// A mutex that gives the main thread priority: a fetch waits for that thread, which calls lock().
// The other threads call lock_courteously(), and get the mutex only while no thread is in lock().
// The disk thread holds it for short steps. The ingest thread would hold it nearly all the time
// under load, so it asks is_wanted() at each step of its work, and unlocks soon. So a fetch waits
// for one step. Turns in alternation would be worse: a fetch could wait for a thread that owns the
// mutex but gets no processor.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "base/mutex.hpp"

namespace pcp::trace {

class TRACE_LOCKABLE CourteousMutex {
 public:
  void lock() TRACE_ACQUIRES() TRACE_UNCHECKED {
    ++waiting_;
    std::unique_lock guard(guard_);
    changed_.wait(guard, [this] { return !held_; });
    held_ = true;
    --waiting_;
  }

  // Waits until no thread is in lock().
  void lock_courteously() TRACE_ACQUIRES() TRACE_UNCHECKED {
    std::unique_lock guard(guard_);
    changed_.wait(guard, [this] { return !held_ && !is_wanted(); });
    held_ = true;
  }

  void unlock() TRACE_RELEASES() TRACE_UNCHECKED {
    {
      const std::lock_guard guard(guard_);
      held_ = false;
    }
    changed_.notify_all();
  }

  // A thread is in lock(). Only a hint: the answer may change at any time.
  bool is_wanted() const { return waiting_.load(std::memory_order_relaxed) > 0; }

 private:
  std::mutex guard_;  // held for moments only
  std::condition_variable changed_;
  bool held_ = false;
  std::atomic<unsigned> waiting_{0};  // taken back under guard_; for others a hint: relaxed
};

// Like Lock, but with lock_courteously().
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

}  // namespace pcp::trace
