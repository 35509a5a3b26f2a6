// SPDX-License-Identifier: LGPL-2.1-or-later
// How the main thread, and courteously the one for the disk, copy what the engine has many of: some
// for each hold of the mutex, into a vector of their own, since the one with all of them would grow
// while the mutex is held.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "collector/shared.hpp"

namespace pcp::trace::agent {

// Calls copy(engine, max, out), with the mutex held, to append at most `max` of what take() has not
// had yet; hands each to take(), without the mutex; and ends when there were fewer.
template <typename Element, typename Lock = std::lock_guard<CourteousMutex>, typename Copy,
          typename Take>
void copy_in_slices(Shared& shared, Copy copy, Take take) {
  constexpr std::size_t kAtOnce = 250;  // well below a millisecond
  std::vector<Element> slice;
  slice.reserve(kAtOnce);
  do {
    slice.clear();
    {
      const Lock lock(shared.mutex);
      copy(shared.engine, kAtOnce, slice);
    }
    for (Element& element : slice) take(std::move(element));
  } while (slice.size() == kAtOnce);
}

}  // namespace pcp::trace::agent
