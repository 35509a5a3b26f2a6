// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared parsing of a request's headers.
#pragma once

#include <string_view>

namespace pcp::trace::client {

// Without blanks at both ends.
inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace pcp::trace::client
