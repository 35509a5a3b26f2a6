// SPDX-License-Identifier: LGPL-2.1-or-later
// Lets larger allocations fail in a program that this is linked into: `new` throws as it does when
// there is no memory.
#pragma once

#include <cstddef>

namespace pcp::trace {

// As long as one exists, for all threads.
class ScarceMemory {
 public:
  // Allocations of `bytes` or more fail.
  explicit ScarceMemory(std::size_t bytes);
  ~ScarceMemory();
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;
};

}  // namespace pcp::trace
