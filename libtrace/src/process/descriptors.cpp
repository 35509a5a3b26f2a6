// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/descriptors.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "process/client.hpp"

namespace pcp::trace::client {
namespace {

// One more than the descriptor; 0 is free. More than the library ever has at a time. Relaxed:
// between threads they carry nothing, and the child of a fork sees what its thread saw.
std::array<std::atomic<int>, 8> kept;

int remember(int fd) {
  if (fd < 0) return fd;
  for (std::atomic<int>& slot : kept)
    if (int free = 0; slot.compare_exchange_strong(free, fd + 1, std::memory_order_relaxed)) break;
  return fd;
}

void forget(int fd) {
  for (std::atomic<int>& slot : kept)
    if (int value = fd + 1; slot.compare_exchange_strong(value, 0, std::memory_order_relaxed))
      return;
}

// The program may have a handler of its own before this one that traces: then the descriptors are
// the child's already, and the parent's were closed before them.
void at_fork() {
  if (Client::get_if_made() == nullptr) close_inherited_descriptors();
}

}  // namespace

void close_descriptors_in_children() { ::pthread_atfork(nullptr, nullptr, at_fork); }

void close_inherited_descriptors() {
  for (std::atomic<int>& slot : kept)
    if (const int value = slot.exchange(0, std::memory_order_relaxed); value > 0)
      ::close(value - 1);
}

}  // namespace pcp::trace::client

extern "C" {

using pcp::trace::client::forget;
using pcp::trace::client::remember;

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol) {
  return remember(__real_socket(domain, type, protocol));
}

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_create1(int flags) { return remember(__real_epoll_create1(flags)); }

int __real_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, int flags) {
  return remember(__real_timerfd_create(clock, flags));
}

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags) { return remember(__real_eventfd(count, flags)); }

// Forgotten first: once it is closed, another thread may get the number.
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
  forget(fd);
  return __real_close(fd);
}

}  // extern "C"
