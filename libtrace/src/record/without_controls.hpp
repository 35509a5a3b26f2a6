// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pcp::trace::client {

// A text from a program, which may come from a request, with ? for all that a terminal obeys or
// that begins a new line.
inline std::string without_controls(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return shown;
}

}  // namespace pcp::trace::client
