// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps the caller's string to its tag in a few nanoseconds: a small table per thread, hashed by the
// string's address. The bytes are always compared, since programs reuse buffers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "open/open_by_name.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

// Compares the caller's string with a tag's text, in a few cycles. Not by libc's strcmp: that uses
// the processor's wide registers, which are slow to wake in a program that has no other use for
// them. A call by name took a third longer.
//
// Compares word by word, each aligned in the caller's memory. An aligned word with one byte of the
// string in it is readable as a whole; the sanitizers do not know that. The tag's words are
// unaligned, and all readable.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline bool is_same_text(const char* name,
                                                                               const Tag& tag) {
  if constexpr (std::endian::native != std::endian::little)
    return std::strcmp(name, tag.text()) == 0;
  using Word = std::uint64_t __attribute__((may_alias));
  struct [[gnu::packed, gnu::may_alias]] UnalignedWord {
    std::uint64_t value;
  };
  const unsigned before = reinterpret_cast<std::uintptr_t>(name) % sizeof(Word);
  const auto* theirs = reinterpret_cast<const Word*>(name - before);
  asm("" : "+r"(theirs));  // hides the string's size from the compiler
  const auto* ours = reinterpret_cast<const UnalignedWord*>(tag.text() - before);
  std::size_t left = before + tag.length + 1;  // with the NUL
  std::uint64_t difference = (*theirs ^ ours->value) >> (8 * before) << (8 * before);
  for (; left > sizeof(Word); left -= sizeof(Word)) {
    if (difference != 0) return false;
    difference = *++theirs ^ (++ours)->value;
  }
  return difference << (8 * (sizeof(Word) - left)) == 0;
}

// Thread: the owner's.
class TagCache {
 public:
  struct Entry {
    const char* address = nullptr;  // of the caller's string
    const Tag* tag = nullptr;
    std::uint64_t key = 0;             // of the text, if there was no room for it as a tag
    OpenByName::Slot* slot = nullptr;  // this thread's, after a transaction lookup
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
