// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/doorbell.hpp"

#include <linux/membarrier.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "record/no_cancellation.hpp"

namespace pcp::trace::client {
namespace {

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

Doorbell::Doorbell(EnsureFlusher ensure_flusher)
    : ensure_flusher_(ensure_flusher),
      fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      has_membarrier_(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {}

void Doorbell::ring() {
  ring_only();
  see_to_flusher();
}

void Doorbell::ring_only() {
  is_urgent_.store(true, std::memory_order_relaxed);
  write_ring();
}

void Doorbell::write_ring() {
  const NoCancellation guard;  // or the sleeper would never hear of it
  const std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(fd_, &one, sizeof one);
}

void Doorbell::wake_sleeper() {
  if (!asleep_.exchange(false, std::memory_order_relaxed)) return;
  write_ring();
  see_to_flusher();
}

// After the ring, since a flusher that leaves looks at the bell last of all.
void Doorbell::see_to_flusher() {
  if (!ensure_flusher_()) asleep_.store(true, std::memory_order_relaxed);
}

bool Doorbell::prepare_to_sleep() {
  if (fd_ < 0 || !has_membarrier_) return false;
  asleep_.store(true, std::memory_order_relaxed);
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
  stay_awake();
  return false;
}

bool Doorbell::is_rung() const {
  pollfd bell{fd_, POLLIN, 0};
  return ::poll(&bell, 1, 0) == 1 && (bell.revents & POLLIN) != 0;
}

bool Doorbell::silence() {
  std::uint64_t count;
  [[maybe_unused]] auto got = ::read(fd_, &count, sizeof count);
  return is_urgent_.exchange(false, std::memory_order_relaxed);
}

}  // namespace pcp::trace::client
