// SPDX-License-Identifier: LGPL-2.1-or-later
// Handlers of fork(), and the rest of the library's own thread while a program thread forks. A
// child inherits every lock as it was at the fork. A lock that our thread held, of the C library or
// of an allocator, would never be free in the child.
#pragma once

#include <chrono>

// The C library's own function below pthread_atfork().
extern "C" int add_fork_handlers(void (*before)(), void (*in_parent)(), void (*in_child)(),
                                 void* library) noexcept __asm__("__register_atfork");

namespace pcp::trace::client {

// pthread_atfork() ties handlers to their library. At exit() the C library (glibc 2.36) takes such
// handlers away while other threads may be in fork(), and then ends the process with an error. Ours
// belong to no library, so they stay: nothing unloads us (-z nodelete).
inline void call_at_forks(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  add_fork_handlers(before, in_parent, in_child, nullptr);
}

// How long a fork waits: longer than our thread works in one go, but not for ever, since our thread
// might wait for the forking thread. A test may set more.
inline constinit std::chrono::nanoseconds fork_patience = std::chrono::milliseconds(100);

// Call this first. Thread: any, once per process image.
void let_flusher_rest_at_forks();

// Call with true before making the flusher's thread, and with false on that thread, or if it could
// not be made. Forks wait in between: a starting thread may take locks before our code runs.
void say_flusher_is_being_made(bool it_is);

// The flusher's thread works inside such a scope. A fork waits for its end, up to fork_patience.
class BlockForks {
 public:
  BlockForks();
  ~BlockForks();
  BlockForks(const BlockForks&) = delete;
  BlockForks& operator=(const BlockForks&) = delete;
};

// Inside a BlockForks, around work that may take seconds, too long for a fork to wait.
class UnblockForks {
 public:
  UnblockForks();
  ~UnblockForks();
  UnblockForks(const UnblockForks&) = delete;
  UnblockForks& operator=(const UnblockForks&) = delete;
};

// BlockForks for a thread of the program, which must not wait: false if another thread is forking,
// and that fork goes on.
class TryToBlockForks {
 public:
  TryToBlockForks();
  ~TryToBlockForks();
  TryToBlockForks(const TryToBlockForks&) = delete;
  TryToBlockForks& operator=(const TryToBlockForks&) = delete;
  explicit operator bool() const { return forks_wait_; }

 private:
  const bool has_lock_;
  const bool forks_wait_;
};

// A thread that forks, in the program's own fork handler, waits for our thread inside such a scope.
class WaitInsideFork {
 public:
  WaitInsideFork();
  ~WaitInsideFork();
  WaitInsideFork(const WaitInsideFork&) = delete;
  WaitInsideFork& operator=(const WaitInsideFork&) = delete;

 private:
  const bool had_lock_;
};

}  // namespace pcp::trace::client
