// SPDX-License-Identifier: LGPL-2.1-or-later
// Per-entry data beside the open table of a process: one slot for each entry number.
//
// A thread's entries are numbered in blocks, and most threads use the first few of a block. So the
// slots of all first entries lie side by side, then those of all second ones: a thread costs memory
// for the entries that it uses, not for a block. Threads that are neighbours share no cache line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "open/open_table.hpp"
#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {

// Thread: any. A slot of zeros was never used.
template <typename Slot>
class ByEntry {
 public:
  // Null if nothing was made yet.
  Slot* find(std::uint32_t entry) const { return slot(slots_.find(), entry); }

  // Null if there is no memory. `allocate`: see MadeWhenNeeded.
  Slot* find_or_make(std::uint32_t entry) { return slot(slots_.find_or_make(), entry); }
  template <typename Allocate>
  Slot* find_or_make(std::uint32_t entry, Allocate allocate) {
    return slot(slots_.find_or_make(allocate), entry);
  }

 private:
  struct alignas(64) OwnCacheLine {
    Slot slot;
  };
  using Slots =
      std::array<std::array<OwnCacheLine, OpenEntries::kMostBlocks>, OpenEntries::kInBlock>;

  static Slot* slot(Slots* slots, std::uint32_t entry) {
    if (slots == nullptr) return nullptr;
    return &(*slots)[entry % OpenEntries::kInBlock][entry / OpenEntries::kInBlock].slot;
  }

  MadeWhenNeeded<Slots> slots_;
};

}  // namespace pcp::trace::client
