// SPDX-License-Identifier: LGPL-2.1-or-later
// A program's description of a tag: the unit of its values, and its meaning. The first description
// stays with the tag and is never freed.
//
// Thread: any. describe() releases the pointer, and description_of() acquires it; likewise the list
// of new descriptions, which the flusher takes even if their tags have no further calls.
#pragma once

#include <string_view>

#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

struct TagDescription {
  std::string_view unit;
  std::string_view text;
  const Tag* tag;
  const TagDescription* next = nullptr;  // in the list of new ones
};

// Cuts texts that are too long. False if there is no memory.
bool describe(const Tag& tag, std::string_view unit, std::string_view text);

// Null if the tag has no description.
inline const TagDescription* description_of(const Tag& tag) {
  return tag.description.load(std::memory_order_acquire);
}

// Gives the descriptions since the last call, as a list. Thread: the flusher's.
const TagDescription* take_new_descriptions();

}  // namespace pcp::trace::client
