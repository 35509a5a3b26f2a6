// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fork/rest_at_fork.hpp"

#include <pthread.h>

#include <chrono>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "fork/wiped_memory.hpp"
#include "wire/steady_clock.hpp"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

// Longer than our thread works in one go. It might wait for something of the forking thread's.
constexpr auto kPatience = 100ms;
constexpr auto kPause = 20us;

// Held while our thread works, and by a thread that forks. Null if there is no memory. In memory
// that is wiped in a child: there it is free.
std::mutex* work_lock = nullptr;
thread_local bool forker_has_lock [[gnu::tls_model("initial-exec")]] = false;

// Thread sanitizer does not know the calls that wait for a lock until a time.
bool try_lock_for_a_while() {
  for (const auto until = present_time() + kPatience; !work_lock->try_lock();
       std::this_thread::sleep_for(kPause))
    if (present_time() > until) return false;
  return true;
}

void before_fork() { forker_has_lock = try_lock_for_a_while(); }

void after_fork_in_parent() {
  if (std::exchange(forker_has_lock, false)) work_lock->unlock();
}

void after_fork_in_child() { forker_has_lock = false; }

}  // namespace

void let_flusher_rest_at_forks() {
  void* memory = allocate_wiped_memory(sizeof *work_lock);
  if (memory == nullptr) return;
  work_lock = new (memory) std::mutex;
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

ForksWait::ForksWait() {
  if (work_lock != nullptr) work_lock->lock();
}
ForksWait::~ForksWait() {
  if (work_lock != nullptr) work_lock->unlock();
}

ForksGoOn::ForksGoOn() {
  if (work_lock != nullptr) work_lock->unlock();
}
ForksGoOn::~ForksGoOn() {
  if (work_lock != nullptr) work_lock->lock();
}

}  // namespace pcp::trace::client
