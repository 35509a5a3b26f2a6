// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread/doorbell.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "platform/guards.hpp"

namespace pcp::trace::client {
namespace {

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

void Doorbell::remove() {
  rung_.close();
  heard_.close();
}

void Doorbell::renew() {
  remove();
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  // The last free descriptor is for the connection: without a bell the flusher polls.
  const int one_more = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
  if (one_more < 0) {
    for (const int end : ends) ::close(end);
    return;
  }
  ::close(one_more);
  heard_.take(ends[0]);
  rung_.take(ends[1]);
  // Pairs with the first fence in write_ring(): whoever rings the old bell, or none, has left what
  // it rings for where the flusher looks next.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Doorbell::ring() {
  ring_only();
  see_to_flusher();
}

void Doorbell::ring_only() {
  is_urgent_.store(true, std::memory_order_relaxed);
  write_ring();
}

void Doorbell::write_ring() {
  const NoCancellation guard;  // or the sleeper would never wake
  const ErrnoStays errno_stays;
  const char any = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with that in renew()
  rung_.send(&any, 1);
  // Pairs with that in Client::may_give_flusher_up(): the caller reads flusher_runs_ after the
  // ring.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Doorbell::wake_sleeper() {
  if (!asleep_.exchange(false, std::memory_order_relaxed)) return;
  write_ring();
  see_to_flusher();
}

// After the ring: a flusher that leaves looks at the bell last.
void Doorbell::see_to_flusher() {
  if (!ensure_flusher_()) asleep_.store(true, std::memory_order_relaxed);
}

bool Doorbell::prepare_to_sleep() {
  if (descriptor() < 0) return false;
  // The first registration takes milliseconds in a process with threads; here only the flusher
  // waits.
  if (!is_registered_) is_registered_ = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  if (!is_registered_) return false;
  asleep_.store(true, std::memory_order_relaxed);
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
  stay_awake();
  return false;
}

bool Doorbell::is_rung() const {
  char any;
  return heard_.receive(&any, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

bool Doorbell::await_ring(std::chrono::nanoseconds longest) const {
  const timeval timeout{0, std::clamp<suseconds_t>(longest.count() / 1000, 1, 999'999)};
  if (!heard_.is_ours() ||
      ::setsockopt(descriptor(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0) {
    std::this_thread::sleep_for(longest);
    return is_rung();
  }
  char any;
  return heard_.receive(&any, 1, MSG_PEEK) >= 0 || errno != EAGAIN;
}

bool Doorbell::silence() {
  std::array<char, 64> rings;
  ssize_t taken;
  do taken = heard_.receive(rings.data(), rings.size());
  while (taken == ssize_t{rings.size()});
  is_stuck_ = taken == 0 || (taken < 0 && errno != EAGAIN && errno != EINTR);
  return is_urgent_.exchange(false, std::memory_order_relaxed);
}

}  // namespace pcp::trace::client
