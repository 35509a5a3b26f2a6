// SPDX-License-Identifier: LGPL-2.1-or-later
// Texts of the program, made fit to be sent or shown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace pcp::trace::client {

// At most `most` bytes of a text; UTF-8 is cut between two characters.
inline std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [text](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u;
  };
  std::size_t end = most;
  while (end > 0 && end + 3 > most && continues(end)) --end;
  return text.substr(0, continues(end) ? most : end);
}

// A program's text, perhaps from a request, as valid UTF-8: ? replaces each control character, each
// character that hides or reorders others, and each byte that is no character.
inline std::string without_controls(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto [bytes, number] = first_character(text);
    const bool is_control = number < ' ' || (number >= 0x7f && number < 0xa0);
    if (bytes == 0 || is_control || is_invisible(number))
      shown += '?';
    else
      shown += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

// Without blanks at both ends.
inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace pcp::trace::client
