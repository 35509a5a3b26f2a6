// SPDX-License-Identifier: LGPL-2.1-or-later
// From what a program calls a tag to the tag. Where that has labels for which there is no room it
// is the bare name's, which is counted and said.
#pragma once

#include <string_view>

#include "record/tag_registry.hpp"

namespace pcp::trace::client {

[[gnu::cold]] void note_other_name(const Tag& tag);

// Null if there is no memory. Requires: is_tag(name).
inline const Tag* find_tag(std::string_view name) {
  const Tag* tag = intern_tag(name);
  if (tag != nullptr && tag->length != name.size()) [[unlikely]]
    note_other_name(*tag);
  return tag;
}

}  // namespace pcp::trace::client
