// SPDX-License-Identifier: LGPL-2.1-or-later
// Unique ids for traces and spans. A generator lies in memory that the kernel wipes in a forked
// child: there it is seeded anew.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace pcp::trace::client {

// Thread: its owner's.
class RandomIds {
 public:
  // Never 0. The generator is xoshiro256++.
  std::uint64_t make() {
    if (!is_seeded()) [[unlikely]]
      seed();
    for (;;) {
      const std::uint64_t made = std::rotl(state_[0] + state_[3], 23) + state_[0];
      const std::uint64_t shifted = state_[1] << 17;
      state_[2] ^= state_[0];
      state_[3] ^= state_[1];
      state_[1] ^= state_[2];
      state_[0] ^= state_[3];
      state_[2] ^= shifted;
      state_[3] = std::rotl(state_[3], 45);
      if (made != 0) return made;
    }
  }

 private:
  void seed();
  // Word by word: memcmp() would take longer than the rest of make().
  bool is_seeded() const { return (state_[0] | state_[1] | state_[2] | state_[3]) != 0; }

  std::array<std::uint64_t, 4> state_{};  // all 0: not seeded yet
};

}  // namespace pcp::trace::client
