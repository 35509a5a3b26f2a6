// What we know of the GNU C library's heap.
#pragma once

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

}  // namespace pcp::trace::agent
