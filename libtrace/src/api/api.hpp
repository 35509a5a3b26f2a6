// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the files that define the API.
#pragma once

#include <string_view>

#include "pcp/trace.h"
#include "tags/tag_registry.hpp"

// Everything else in the library is hidden.
#define PMTRACE_EXPORT [[gnu::visibility("default")]]

// For the C++ and Fortran bindings; not in the C header.
extern "C" void pmtrace_complain_once(const char* text);

namespace pcp::trace::client {

[[gnu::cold]] void note_other_name(const Tag& tag);

// Finds a tag by name. A name with too many label sets gets the bare name's tag; that is counted,
// and complained about once. Null if there is no memory. Requires: is_tag(name).
inline const Tag* find_tag(std::string_view name) {
  const Tag* tag = intern_tag(name);
  if (tag != nullptr && tag->length != name.size()) [[unlikely]]
    note_other_name(*tag);
  return tag;
}

}  // namespace pcp::trace::client
