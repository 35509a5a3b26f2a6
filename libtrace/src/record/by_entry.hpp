// SPDX-License-Identifier: LGPL-2.1-or-later
// What goes with the open transactions of a process besides their entries in the open table: a slot
// for each entry's number, in memory that is made when the first is needed, and that the kernel
// wipes in a forked child.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fork/wiped_memory.hpp"
#include "record/errno_stays.hpp"
#include "record/open_table.hpp"

namespace pcp::trace::client {

// Thread: any. A slot of zeros is one that was never used.
template <typename Slot>
class ByEntry {
 public:
  // Null if nothing was made yet.
  Slot* find(std::uint32_t entry) const {
    Slots* const slots = slots_.load(std::memory_order_acquire);
    return slots != nullptr ? &(*slots)[entry] : nullptr;
  }

  // Null if there is no memory.
  Slot* find_or_make(std::uint32_t entry) {
    if (Slot* const slot = find(entry)) return slot;
    const ErrnoStays errno_stays;
    auto* const made = static_cast<Slots*>(allocate_wiped_memory(sizeof(Slots)));
    if (made == nullptr) return nullptr;
    // Another thread may be faster; then what was made is lost, once.
    Slots* there = nullptr;
    if (slots_.compare_exchange_strong(there, made, std::memory_order_acq_rel)) there = made;
    return &(*there)[entry];
  }

 private:
  using Slots = std::array<Slot, std::size_t{OpenRoom::kMostBlocks} * OpenRoom::kInBlock>;
  std::atomic<Slots*> slots_{nullptr};  // released by who makes it
};

}  // namespace pcp::trace::client
