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

// The program may have a handler of its own before this one that traces: then the descriptors are
// the child's already, and the parent's were closed before them.
void at_fork() {
  if (Client::get_if_made() == nullptr) close_inherited_descriptors();
}

}  // namespace

int remember_descriptor(int fd) {
  if (fd < 0) return fd;
  for (std::atomic<int>& place : kept)
    if (int free = 0; place.compare_exchange_strong(free, fd + 1, std::memory_order_relaxed)) break;
  return fd;
}

void forget_descriptor(int fd) {
  for (std::atomic<int>& place : kept)
    if (int value = fd + 1; place.compare_exchange_strong(value, 0, std::memory_order_relaxed))
      return;
}

void close_descriptors_in_children() { ::pthread_atfork(nullptr, nullptr, at_fork); }

void close_inherited_descriptors() {
  for (std::atomic<int>& slot : kept)
    if (const int value = slot.exchange(0, std::memory_order_relaxed); value > 0)
      ::close(value - 1);
}

}  // namespace pcp::trace::client
