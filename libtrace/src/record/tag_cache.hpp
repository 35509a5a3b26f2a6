// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps the caller's string to its tag in a few nanoseconds: a small table per thread, hashed by the
// string's address. The bytes are always compared, since programs reuse buffers.
#pragma once

#include <array>
#include <cstdint>

#include "record/open_transactions.hpp"
#include "record/same_text.hpp"
#include "record/tag_registry.hpp"

namespace pcp::trace::client {

// Thread: the owner's.
class TagCache {
 public:
  struct Entry {
    const char* address = nullptr;  // of the caller's string
    const Tag* tag = nullptr;
    std::uint64_t key = 0;                   // of the text, if there was no room for it as a tag
    OpenTransactions::Slot* slot = nullptr;  // this thread's, after a transaction lookup
  };

  // Gives the entry for this address. Valid only if holds() says so.
  Entry& at(const char* name) {
    const auto address = reinterpret_cast<std::uintptr_t>(name);
    return entries_[(address * 0x9E3779B97F4A7C15u) >> (64 - kBits)];
  }
  static bool holds(const Entry& entry, const char* name) {
    return entry.address == name && is_same_text(name, *entry.tag);
  }

  void forget_slots() {
    for (Entry& entry : entries_) entry.slot = nullptr;
  }

 private:
  static constexpr unsigned kBits = 6;
  std::array<Entry, 1u << kBits> entries_{};
};

}  // namespace pcp::trace::client
