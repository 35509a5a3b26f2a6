// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/random_ids.hpp"

#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "platform/guards.hpp"

namespace pcp::trace::client {
namespace {

// Spreads every bit over the whole word.
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
  word = (word ^ word >> 27) * 0x94D049BB133111EBu;
  return word ^ word >> 31;
}

}  // namespace

void RandomIds::seed() {
  const ErrnoStays errno_stays;
  if (::getrandom(state_.data(), sizeof state_, GRND_NONBLOCK) != sizeof state_) {
    // Early in the boot, or in a sandbox: uses what differs between threads and processes.
    state_[0] = mix(now_ns());
    state_[1] = mix(static_cast<std::uint64_t>(::syscall(SYS_gettid)) << 32 |
                    static_cast<std::uint64_t>(::getpid()));
    state_[2] = mix(reinterpret_cast<std::uintptr_t>(this));
    state_[3] = mix(state_[0] ^ state_[1] ^ state_[2]);
  }
  if (!is_seeded()) state_[0] = 1;
}

}  // namespace pcp::trace::client
