// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a tag by name. A name with too many label sets gets the bare name's tag; that is counted,
// and complained about once.
#pragma once

#include <string_view>

#include "tags/tag_registry.hpp"

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
