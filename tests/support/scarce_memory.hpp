// SPDX-License-Identifier: LGPL-2.1-or-later
// Lets larger allocations fail in a program that this is linked into: `new` throws as it does when
// there is no memory. Or lets something happen in the middle of an allocation.
#pragma once

#include <cstddef>
#include <functional>
#include <new>

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

// True if the work finds too little memory.
template <typename Work>
bool throws(Work work) {
  try {
    work();
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

// Calls `meanwhile` in the middle of the next allocation of `bytes` or more, and then not again.
// Requires: no other thread allocates.
class DuringAllocation {
 public:
  DuringAllocation(std::size_t bytes, std::function<void()> meanwhile);
  ~DuringAllocation();
  DuringAllocation(const DuringAllocation&) = delete;
  DuringAllocation& operator=(const DuringAllocation&) = delete;

 private:
  std::function<void()> meanwhile_;
};

}  // namespace pcp::trace
