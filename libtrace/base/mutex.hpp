// SPDX-License-Identifier: LGPL-2.1-or-later
// The standard mutex, lock and condition variable, annotated for clang's -Wthread-safety: clang
// then warns about access to guarded data without the mutex.
#pragma once

#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define TRACE_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define TRACE_THREAD_SAFETY(attribute)
#endif

// For classes.
#define TRACE_LOCKABLE TRACE_THREAD_SAFETY(capability("mutex"))
#define TRACE_SCOPED_LOCK TRACE_THREAD_SAFETY(scoped_lockable)
// For members: access only with the mutex held.
#define TRACE_GUARDED_BY(mutex) TRACE_THREAD_SAFETY(guarded_by(mutex))
// For functions: the first needs the mutex, the second acquires it, the third releases it.
#define TRACE_REQUIRES(mutex) TRACE_THREAD_SAFETY(requires_capability(mutex))
#define TRACE_ACQUIRES(...) TRACE_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define TRACE_RELEASES(...) TRACE_THREAD_SAFETY(release_capability(__VA_ARGS__))
// For functions that implement a mutex, or hold one conditionally or longer than their call: not
// checked.
#define TRACE_UNCHECKED TRACE_THREAD_SAFETY(no_thread_safety_analysis)

namespace pcp::trace {

class TRACE_LOCKABLE Mutex {
 public:
  void lock() TRACE_ACQUIRES() TRACE_UNCHECKED { mutex_.lock(); }
  void unlock() TRACE_RELEASES() TRACE_UNCHECKED { mutex_.unlock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// For Mutex and other lockable classes.
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

// Waits may end without a reason: wait in a loop that checks the condition.
class ConditionVariable {
 public:
  void wait(Mutex& mutex) TRACE_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  // False after the deadline.
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
