// SPDX-License-Identifier: LGPL-2.1-or-later
// While a thread of the program forks, the library's own thread rests. A child keeps every lock as
// it was at the fork; one that our thread had just taken, of the C library's or of an allocator
// that does not look after itself, would never be free in the child, though its program may have no
// other thread.
#pragma once

#include <chrono>

namespace pcp::trace::client {

// How long a fork waits: longer than our thread works in one go. It might wait for something of the
// forking thread's. A test may set more.
inline constinit std::chrono::nanoseconds fork_patience = std::chrono::milliseconds(100);

// Before any of what follows. Thread: any, once per process image.
void let_flusher_rest_at_forks();

// Said before the flusher's thread is made, and taken back by that thread, or by who could not make
// it. What a thread begins with, before it runs code of ours, may take locks, too: so forks wait.
void say_flusher_is_being_made(bool it_is);

// The flusher's thread does all its work in such a scope: a fork waits for its end, though not for
// long.
class ForksWait {
 public:
  ForksWait();
  ~ForksWait();
  ForksWait(const ForksWait&) = delete;
  ForksWait& operator=(const ForksWait&) = delete;
};

// Inside a ForksWait: what may take seconds, for which no fork can wait.
class ForksGoOn {
 public:
  ForksGoOn();
  ~ForksGoOn();
  ForksGoOn(const ForksGoOn&) = delete;
  ForksGoOn& operator=(const ForksGoOn&) = delete;
};

// Makes a handler for the flusher's loop that runs in such a scope.
template <typename Handler>
auto while_forks_wait(Handler handler) {
  return [handler](const auto&... results) {
    const ForksWait for_its_end;
    handler(results...);
  };
}

}  // namespace pcp::trace::client
