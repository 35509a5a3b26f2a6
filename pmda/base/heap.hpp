// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties and settings of the GNU C library's heap.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>

namespace pcp::trace {

// The real size of an allocation: 8 bytes more, in steps of 16, at least 32.
constexpr std::size_t heap_bytes(std::size_t wanted) {
  constexpr std::size_t kHeader = 8;
  constexpr std::size_t kStep = 16;
  constexpr std::size_t kLeast = 32;
  if (wanted == 0) return 0;
  return std::max(kLeast, (wanted + kHeader + kStep - 1) / kStep * kStep);
}

// Makes each free() merge its own memory. By default the C library collects small pieces and
// sometimes merges all of them in one call: after a reset of 100,000 tags one call took 12 ms,
// possibly with the mutex held. Call it before threads start.
inline void free_without_delay() { ::mallopt(M_MXFAST, 0); }

// For a program that frees and takes much memory each second, as a recorder does for its samples.
// By default the C library returns freed memory to the kernel, and the page faults of the next
// sample cost more than the sample.
inline void keep_freed_memory() {
  constexpr int kMiB = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the greatest that is allowed
  ::mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
}

}  // namespace pcp::trace
