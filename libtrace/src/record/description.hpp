// SPDX-License-Identifier: LGPL-2.1-or-later
// What a program says of a tag: the unit of its values, and what it stands for. The first words
// stay with the tag and are never freed.
//
// Thread: any. The flusher reads what a caller has published: describe() releases the pointer, and
// description_of() acquires it. The same holds for the list of those that it has not seen yet,
// which may concern tags that nobody calls any more.
#pragma once

#include <string_view>

#include "record/tag_registry.hpp"

namespace pcp::trace::client {

struct Description {
  std::string_view unit;
  std::string_view text;
  const Tag* tag;
  const Description* next = nullptr;  // in the list of new ones
};

// Cuts what is too long. False if there is no memory.
bool describe(const Tag& tag, std::string_view unit, std::string_view text);

// Null if nobody has described the tag.
inline const Description* description_of(const Tag& tag) {
  return tag.description.load(std::memory_order_acquire);
}

// Gives what was described since the last time, as a list. Thread: the flusher's.
const Description* take_new_descriptions();

}  // namespace pcp::trace::client
