// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes as text, for golden tests.
#pragma once

#include <string>
#include <string_view>

namespace pcp::trace::wire {

// Gives two digits for each byte, and a space after every fourth byte.
inline std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 4 == 0) text += ' ';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// The reverse; spaces may be between any two bytes.
inline std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i++, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace pcp::trace::wire
