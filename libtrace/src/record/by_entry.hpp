// SPDX-License-Identifier: LGPL-2.1-or-later
// Per-entry data beside the open table of a process: one slot for each entry number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "record/made_when_needed.hpp"
#include "record/open_table.hpp"

namespace pcp::trace::client {

// Thread: any. A slot of zeros was never used.
template <typename Slot>
class ByEntry {
 public:
  // Null if nothing was made yet.
  Slot* find(std::uint32_t entry) const { return slot(slots_.find(), entry); }

  // Null if there is no memory.
  Slot* find_or_make(std::uint32_t entry) { return slot(slots_.find_or_make(), entry); }

 private:
  using Slots = std::array<Slot, std::size_t{OpenRoom::kMostBlocks} * OpenRoom::kInBlock>;

  static Slot* slot(Slots* slots, std::uint32_t entry) {
    return slots != nullptr ? &(*slots)[entry] : nullptr;
  }

  MadeWhenNeeded<Slots> slots_;
};

}  // namespace pcp::trace::client
