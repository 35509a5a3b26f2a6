// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the caller's string with a tag's text, in a few cycles.
//
// Not libc's strcmp: it uses the processor's wide registers, which are slow to wake in a program
// that has no other use for them. A call by name took a third longer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "record/tag_registry.hpp"

namespace pcp::trace::client {

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

}  // namespace pcp::trace::client
