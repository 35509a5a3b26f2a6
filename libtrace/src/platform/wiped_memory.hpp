// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that reads as zero in a forked child.
#pragma once

#include <atomic>
#include <cstddef>

#include "platform/guards.hpp"

namespace pcp::trace::client {

// Null if there is none. Never freed.
void* allocate_wiped_memory(std::size_t bytes);

// Other memory that may hold the only pointers to what was allocated.
void search_for_leaks_from(const void* memory, std::size_t bytes);

// An object made at first use, in such memory, or in memory that `allocate(bytes)` gives.
// Thread: any. Requires: a value of zeros is valid and new. A forked child finds such a value.
template <typename Value>
class MadeWhenNeeded {
 public:
  // Null if it was not made yet.
  Value* find() const { return made_.load(std::memory_order_acquire); }

  // Null if there is no memory.
  Value* find_or_make() { return find_or_make(allocate_wiped_memory); }
  template <typename Allocate>
  Value* find_or_make(Allocate allocate) {
    if (Value* const value = find()) return value;
    const ErrnoStays errno_stays;
    auto* const made = static_cast<Value*>(allocate(sizeof(Value)));
    if (made == nullptr) return nullptr;
    // Another thread may win the race; then `made` leaks, once.
    Value* there = nullptr;
    return made_.compare_exchange_strong(there, made, std::memory_order_acq_rel) ? made : there;
  }

 private:
  std::atomic<Value*> made_{nullptr};  // released by find_or_make()
};

}  // namespace pcp::trace::client
