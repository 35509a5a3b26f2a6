// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces the calls that make, use and close the library's descriptors, by the linker's option
// --wrap.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "process/descriptors.hpp"

namespace {

using namespace pcp::trace::client;

// False if the program put its own file under our number.
bool may_use(int fd) {
  if (may_use_descriptor(fd)) return true;
  errno = EBADF;
  return false;
}

[[noreturn]] void fail_to_wait(int error) {
  throw std::system_error(error, std::generic_category(), "waiting for the agent");
}

}  // namespace

extern "C" {

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol) {
  return keep_descriptor(__real_socket(domain, type, protocol));
}

int __real_socketpair(int domain, int type, int protocol, int* ends);
int __wrap_socketpair(int domain, int type, int protocol, int* ends);
int __wrap_socketpair(int domain, int type, int protocol, int* ends) {
  if (__real_socketpair(domain, type, protocol, ends) != 0) return -1;
  ends[0] = keep_descriptor(ends[0]);
  ends[1] = keep_descriptor(ends[1]);
  return 0;
}

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

int __real_connect(int fd, const sockaddr* address, socklen_t length);
int __wrap_connect(int fd, const sockaddr* address, socklen_t length);
int __wrap_connect(int fd, const sockaddr* address, socklen_t length) {
  return may_use(fd) ? __real_connect(fd, address, length) : -1;
}

ssize_t __real_send(int fd, const void* bytes, std::size_t size, int flags);
ssize_t __wrap_send(int fd, const void* bytes, std::size_t size, int flags);
ssize_t __wrap_send(int fd, const void* bytes, std::size_t size, int flags) {
  return may_use(fd) ? __real_send(fd, bytes, size, flags) : -1;
}

ssize_t __real_sendmsg(int fd, const msghdr* message, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  return may_use(fd) ? __real_sendmsg(fd, message, flags) : -1;
}

ssize_t __real_recv(int fd, void* bytes, std::size_t size, int flags);
ssize_t __wrap_recv(int fd, void* bytes, std::size_t size, int flags);
ssize_t __wrap_recv(int fd, void* bytes, std::size_t size, int flags) {
  return may_use(fd) ? __real_recv(fd, bytes, size, flags) : -1;
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
  if (__real_socketpair(AF_UNIX, kSort, 0, ends.data()) != 0) return -1;
  __real_send(ends[1], "", 1, MSG_NOSIGNAL);
  __real_close(ends[1]);
  return keep_descriptor(ends[0]);
}

}  // extern "C"
