// SPDX-License-Identifier: LGPL-2.1-or-later
// While a thread of the program forks, the library's own thread rests. A child keeps every lock as
// it was at the fork; one that our thread had just taken, of the C library's or of an allocator
// that does not look after itself, would never be free in the child, though its program may have no
// other thread.
#pragma once

namespace pcp::trace::client {

// Before any Working. Thread: any, once per process image.
void let_flusher_rest_at_forks();

// The flusher's thread works in this scope: a fork waits for its end, though not for long.
class Working {
 public:
  Working();
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
};

// Inside a Working: what may take seconds, for which no fork can wait.
class Away {
 public:
  Away();
  ~Away();
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;
};

// Makes a handler of the flusher's loop one that works.
template <typename Handler>
auto working(Handler handler) {
  return [handler](const auto&... results) {
    const Working now;
    handler(results...);
  };
}

}  // namespace pcp::trace::client
