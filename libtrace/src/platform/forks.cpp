// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platform/forks.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>

#include "base/clock.hpp"
#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

constexpr auto kPause = 20us;

// A fork looks at least so often: if all processes stood still, as in a container without a
// processor share, only time has passed.
constexpr int kLooks = 100;

struct Work {
  std::mutex lock;  // held while our thread works, and by a thread that forks
  // True while our thread starts. Released by that thread once it runs our code, acquired by a
  // fork: after that the thread holds no lock of its start.
  std::atomic<bool> is_being_made{false};
  // The thread that forks and holds the lock, by its forks_under_way. Written by that thread only,
  // so it orders nothing. Null in a child, also for handlers of the program that come before ours.
  std::atomic<const int*> forker{nullptr};
};

// Null if there is no memory. In wiped memory: a child finds the lock free.
Work* flushers_work = nullptr;
// This thread's forks. There are several if a program's own handler forks.
thread_local int forks_under_way [[gnu::tls_model("initial-exec")]] = 0;

bool try_lock() {
  return !flushers_work->is_being_made.load(std::memory_order_acquire) &&
         flushers_work->lock.try_lock();
}

// Not try_lock_for(), which the thread sanitizer does not know.
bool try_lock_for_a_while() {
  const Instant until = steady_now() + fork_patience;
  for (int looks = 1; !try_lock(); ++looks) {
    if (looks >= kLooks && steady_now() > until) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

void hold_lock() {
  if (try_lock_for_a_while())
    flushers_work->forker.store(&forks_under_way, std::memory_order_relaxed);
}

bool has_lock() {
  return flushers_work != nullptr &&
         flushers_work->forker.load(std::memory_order_relaxed) == &forks_under_way;
}

void before_fork() {
  if (forks_under_way++ == 0) hold_lock();
}

// True after the outermost fork. A program's handler may have made the first call: then this fork
// began without before_fork().
bool end_fork() { return forks_under_way == 0 || --forks_under_way == 0; }

bool give_lock_back() {
  if (!has_lock()) return false;
  flushers_work->forker.store(nullptr, std::memory_order_relaxed);
  flushers_work->lock.unlock();
  return true;
}

void after_fork_in_parent() {
  if (end_fork()) give_lock_back();
}

void after_fork_in_child() { end_fork(); }

}  // namespace

void let_flusher_rest_at_forks() {
  void* memory = allocate_wiped_memory(sizeof *flushers_work);
  if (memory == nullptr) return;
  flushers_work = new (memory) Work;
  call_at_forks(before_fork, after_fork_in_parent, after_fork_in_child);
}

void say_flusher_is_being_made(bool it_is) {
  if (flushers_work != nullptr)
    flushers_work->is_being_made.store(it_is, std::memory_order_release);
}

BlockForks::BlockForks() {
  if (flushers_work != nullptr) flushers_work->lock.lock();
}
BlockForks::~BlockForks() {
  if (flushers_work != nullptr) flushers_work->lock.unlock();
}

TryToBlockForks::TryToBlockForks()
    : has_lock_(flushers_work != nullptr && !has_lock() && flushers_work->lock.try_lock()),
      forks_wait_(has_lock_ || flushers_work == nullptr || has_lock()) {}
TryToBlockForks::~TryToBlockForks() {
  if (has_lock_) flushers_work->lock.unlock();
}

WaitInsideFork::WaitInsideFork() : had_lock_(give_lock_back()) {}
WaitInsideFork::~WaitInsideFork() {
  if (had_lock_) hold_lock();
}

UnblockForks::UnblockForks() {
  if (flushers_work != nullptr) flushers_work->lock.unlock();
}
UnblockForks::~UnblockForks() {
  if (flushers_work != nullptr) flushers_work->lock.lock();
}

}  // namespace pcp::trace::client
