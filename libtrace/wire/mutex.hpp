// SPDX-License-Identifier: LGPL-2.1-or-later
// The standard library's mutex, lock and condition variable, with what clang's -Wthread-safety
// wants to know of them: then it refuses to compile code that touches what a mutex guards without
// it.
#pragma once

#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define TRACE_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define TRACE_THREAD_SAFETY(attribute)
#endif

// Of a class.
#define TRACE_LOCKABLE TRACE_THREAD_SAFETY(capability("mutex"))
#define TRACE_SCOPED_LOCK TRACE_THREAD_SAFETY(scoped_lockable)
// Of a member: touched only by who holds the mutex.
#define TRACE_GUARDED_BY(mutex) TRACE_THREAD_SAFETY(guarded_by(mutex))
// Of a function: called only by who holds the mutex; or takes it, or gives it up.
#define TRACE_REQUIRES(mutex) TRACE_THREAD_SAFETY(requires_capability(mutex))
#define TRACE_ACQUIRES(...) TRACE_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define TRACE_RELEASES(...) TRACE_THREAD_SAFETY(release_capability(__VA_ARGS__))
// Of a function that sees to it that the mutex is held, whether it was before or not.
#define TRACE_ENSURES(mutex) TRACE_THREAD_SAFETY(assert_capability(mutex))
// Of a function that makes a mutex out of something else, or holds one now and then: not checked.
#define TRACE_UNCHECKED TRACE_THREAD_SAFETY(no_thread_safety_analysis)

namespace pcp::trace {

class TRACE_LOCKABLE Mutex {
 public:
  void lock() TRACE_ACQUIRES() TRACE_UNCHECKED { mutex_.lock(); }
  void unlock() TRACE_RELEASES() TRACE_UNCHECKED { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Of this mutex or of any other class of them.
template <typename AnyMutex>
class TRACE_SCOPED_LOCK Lock {
 public:
  explicit Lock(AnyMutex& mutex) TRACE_ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() TRACE_RELEASES() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  AnyMutex& mutex_;
};

// Waits may end for no reason, so they stand in a loop that looks.
class Condition {
 public:
  void wait(Mutex& mutex) TRACE_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  // False when the time is over.
  template <typename Time>
  bool wait_until(Mutex& mutex, Time time) TRACE_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, time) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }

  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace pcp::trace
