// SPDX-License-Identifier: LGPL-2.1-or-later
// The calls that make the library's descriptors, and close(): the linker's option --wrap brings
// them here.
#include "process/descriptors.hpp"

extern "C" {

using pcp::trace::client::forget_descriptor;
using pcp::trace::client::remember_descriptor;

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol) {
  return remember_descriptor(__real_socket(domain, type, protocol));
}

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_create1(int flags) { return remember_descriptor(__real_epoll_create1(flags)); }

int __real_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, int flags) {
  return remember_descriptor(__real_timerfd_create(clock, flags));
}

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags) {
  return remember_descriptor(__real_eventfd(count, flags));
}

// Forgotten first: once it is closed, another thread may get the number.
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
  forget_descriptor(fd);
  return __real_close(fd);
}

}  // extern "C"
