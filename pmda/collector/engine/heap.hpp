// SPDX-License-Identifier: LGPL-2.1-or-later
// What we know, and want, of the GNU C library's heap.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>

namespace pcp::trace::agent {

// What a piece of memory really takes: 8 bytes more, in steps of 16, and 32 at least.
constexpr std::size_t heap_bytes(std::size_t wanted) {
  constexpr std::size_t kHeader = 8;
  constexpr std::size_t kStep = 16;
  constexpr std::size_t kLeast = 32;
  if (wanted == 0) return 0;
  return std::max(kLeast, (wanted + kHeader + kStep - 1) / kStep * kStep);
}

// Has each free() do its own work. Else the C library only notes small pieces, and now and then a
// call joins all of them with their neighbours: after a reset of 100,000 tags one took 12 ms, and
// it may be one that holds the mutex. Call it before there are threads.
inline void free_without_delay() { ::mallopt(M_MXFAST, 0); }

}  // namespace pcp::trace::agent
