// SPDX-License-Identifier: LGPL-2.1-or-later
// How far the wall clock is ahead of the steady clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace pcp::trace {

// From the steady clock to the wall clock, by nanoseconds of each: the wall clock's reading less
// the middle of two steady ones around it. A thread that was interrupted in between reads again.
template <typename ReadSteady, typename ReadWall>
Duration clock_difference(ReadSteady read_steady, ReadWall read_wall) {
  constexpr std::uint64_t kShortNs = 10'000;  // three system calls take less
  Duration difference{};
  std::uint64_t shortest = UINT64_MAX;
  for (int tries = 0; tries < 5 && shortest > kShortNs; ++tries) {
    const std::uint64_t before = read_steady();
    const std::uint64_t wall = read_wall();
    const std::uint64_t took = read_steady() - before;
    if (took < shortest) difference = Duration(wall) - Duration(before + took / 2);
    shortest = std::min(shortest, took);
  }
  return difference;
}

inline Duration wall_minus_steady() {
  return clock_difference(now_ns, [] { return read_ns(CLOCK_REALTIME); });
}

}  // namespace pcp::trace
