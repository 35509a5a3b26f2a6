#include "descriptors.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace pcp::trace::client {
namespace {

// One more than the descriptor; 0 is free. Relaxed: between threads they carry nothing, and the
// child of a fork sees what its thread saw.
std::array<std::atomic<int>, 8> kept;

void close_all() {
  for (std::atomic<int>& place : kept)
    if (const int value = place.exchange(0, std::memory_order_relaxed); value > 0)
      ::close(value - 1);
}

}  // namespace

void close_descriptors_in_children() { ::pthread_atfork(nullptr, nullptr, close_all); }

void remember_descriptor(int fd) {
  for (std::atomic<int>& place : kept)
    if (int free = 0; place.compare_exchange_strong(free, fd + 1, std::memory_order_relaxed))
      return;
}

void forget_descriptor(int fd) {
  for (std::atomic<int>& place : kept)
    if (int value = fd + 1; place.compare_exchange_strong(value, 0, std::memory_order_relaxed))
      return;
}

}  // namespace pcp::trace::client
