// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace pcp::trace {

struct Utf8Character {
  std::size_t bytes = 0;  // 0: the text does not begin with valid UTF-8
  char32_t number = 0;    // its code point
};

// True for characters that have no width, end a line, or turn the direction of writing.
constexpr bool is_invisible(char32_t number) {
  return number == 0xad || number == 0x61c || (number >= 0x200b && number <= 0x200f) ||
         (number >= 0x2028 && number <= 0x202e) || (number >= 0x2060 && number <= 0x206f) ||
         number == 0xfeff || (number >= 0xfff9 && number <= 0xfffb) ||
         (number >= 0xe0000 && number <= 0xe0fff);
}

// Decodes the first character. Requires: the text is not empty.
constexpr Utf8Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return {};
  char32_t number = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    number = number << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_overlong = number < kLeast[length];
  const bool is_surrogate = number >= 0xd800 && number < 0xe000;
  if (is_overlong || is_surrogate || number > 0x10ffff) return {};
  return {length, number};
}

}  // namespace pcp::trace
