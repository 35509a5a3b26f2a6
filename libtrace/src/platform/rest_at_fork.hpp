// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's own thread rests while a program thread forks. A child inherits every lock as it
// was at the fork. A lock that our thread held, of the C library or of an allocator, would never be
// free in the child.
#pragma once

#include <chrono>

namespace pcp::trace::client {

// How long a fork waits: longer than our thread works in one go, but not for ever, since our thread
// might wait for the forking thread. A test may set more.
inline constinit std::chrono::nanoseconds fork_patience = std::chrono::milliseconds(100);

// Call before the rest. Thread: any, once per process image.
void let_flusher_rest_at_forks();

// True before the flusher's thread is made; false from that thread, or after a failure to make it.
// Forks wait meanwhile: a starting thread may take locks before our code runs.
void say_flusher_is_being_made(bool it_is);

// The flusher's thread works inside such a scope: a fork waits for its end, up to fork_patience.
class ForksWait {
 public:
  ForksWait();
  ~ForksWait();
  ForksWait(const ForksWait&) = delete;
  ForksWait& operator=(const ForksWait&) = delete;
};

// Inside a ForksWait: for work that may take seconds, too long for a fork.
class ForksGoOn {
 public:
  ForksGoOn();
  ~ForksGoOn();
  ForksGoOn(const ForksGoOn&) = delete;
  ForksGoOn& operator=(const ForksGoOn&) = delete;
};

// The same for a thread of the program, which waits for nobody: if another thread forks just now,
// this is false, and that fork goes on.
class OtherForksWait {
 public:
  OtherForksWait();
  ~OtherForksWait();
  OtherForksWait(const OtherForksWait&) = delete;
  OtherForksWait& operator=(const OtherForksWait&) = delete;
  explicit operator bool() const { return they_wait_; }

 private:
  const bool has_lock_;
  const bool they_wait_;
};

// The thread of a fork, in the program's own handler, waits for our thread inside such a scope.
class OwnForkWaits {
 public:
  OwnForkWaits();
  ~OwnForkWaits();
  OwnForkWaits(const OwnForkWaits&) = delete;
  OwnForkWaits& operator=(const OwnForkWaits&) = delete;

 private:
  const bool had_lock_;
};

}  // namespace pcp::trace::client
