// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces the calls that Asio's loop makes of the system, by the linker's option --wrap.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "harmless/descriptors.hpp"

namespace {

using namespace pcp::trace::client;

[[noreturn]] void fail_to_wait(int error) {
  throw std::system_error(error, std::generic_category(), "waiting for the agent");
}

}  // namespace

extern "C" {

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_create1(int flags) { return keep_epoll(__real_epoll_create1(flags)); }

// Fails, so that Asio gives epoll_wait() a timeout. With a timerfd closed by the program, time
// would stand still unnoticed.
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int, int) {
  errno = ENOSYS;
  return -1;
}

// Hides errors of closed descriptors, which has_all_descriptors() finds. With the error Asio would
// keep the descriptor, and fail each time it recreates its epoll.
int __real_epoll_ctl(int epoll, int operation, int fd, epoll_event* event);
int __wrap_epoll_ctl(int epoll, int operation, int fd, epoll_event* event);
int __wrap_epoll_ctl(int epoll, int operation, int fd, epoll_event* event) {
  const int result = __real_epoll_ctl(epoll, operation, fd, event);
  return result != 0 && (errno == EBADF || errno == EINVAL) ? 0 : result;
}

// An epoll does not report closed descriptors, or its own end: a wait there would last for ever.
// poll() does, see watch_descriptor(). If epoll is forbidden Asio would retry for ever, so this
// throws.
int __real_epoll_wait(int epoll, epoll_event* events, int room, int timeout_ms);
int __wrap_epoll_wait(int epoll, epoll_event* events, int room, int timeout_ms);
int __wrap_epoll_wait(int epoll, epoll_event* events, int room, int timeout_ms) {
  if (timeout_ms != 0) {
    if (!has_all_descriptors()) fail_to_wait(EBADF);
    if (timeout_ms > 1) ++timeout_ms;  // Asio rounds down to milliseconds
    std::array<pollfd, 2> entries{{{epoll, POLLIN, 0}, {watched_descriptor(), 0, 0}}};
    const int ready = ::poll(entries.data(), entries.size(), timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return ready;
    if (ready > 0 && entries[1].revents != 0) fail_to_wait(EBADF);
    if (ready > 0) timeout_ms = 0;  // else poll() is forbidden, too
  }
  if (!may_use_descriptor(epoll)) fail_to_wait(EBADF);
  const int got = __real_epoll_wait(epoll, events, room, timeout_ms);
  if (got < 0 && errno != EINTR) fail_to_wait(errno);
  return got;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) { return let_go_of_descriptor(fd) ? __real_close(fd) : 0; }

// Eventfds cannot be told apart. Asio only needs a descriptor that stays readable.
int __wrap_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned, int) {
  std::array<int, 2> ends;
  constexpr int kSort = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  if (::socketpair(AF_UNIX, kSort, 0, ends.data()) != 0) return -1;
  ::send(ends[1], "", 1, MSG_NOSIGNAL);
  __real_close(ends[1]);
  return keep_descriptor(ends[0]);
}

}  // extern "C"
