// SPDX-License-Identifier: LGPL-2.1-or-later
// Ids that nobody else has made, for traces and their parts. A generator lies in memory that the
// kernel wipes in a forked child: there it begins anew, with other ids than its parent's.
#pragma once

#include <array>
#include <cstdint>

namespace pcp::trace::client {

// Thread: its owner's.
class RandomIds {
 public:
  std::uint64_t make();  // not 0

 private:
  void seed();
  // Word by word: the C library's memcmp() takes longer than all the rest.
  bool is_seeded() const { return (state_[0] | state_[1] | state_[2] | state_[3]) != 0; }

  std::array<std::uint64_t, 4> state_{};  // all 0: not seeded yet
};

}  // namespace pcp::trace::client
