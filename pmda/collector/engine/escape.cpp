// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/escape.hpp"

#include <algorithm>

namespace pcp::trace::agent {

namespace {

void append_escaped(std::string& out, char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
}

bool is_printable_ascii(char c) { return c >= ' ' && c < 0x7f; }

}  // namespace

std::size_t stays_in_name(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return is_printable_ascii(text.front()) ? 1 : 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool control = lead == 0xc2 && byte(1) < 0xa0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool too_great = lead == 0xf4 && byte(1) >= 0x90;
  return control || overlong || surrogate || too_great ? 0 : length;
}

std::size_t stays_in_label(std::string_view text) {
  return static_cast<unsigned char>(text.front()) < 0x80 ? 1 : stays_in_name(text);
}

std::size_t stays_in_log(std::string_view text) {
  const char c = text.front();
  return is_printable_ascii(c) && c != '\\' && c != '"' ? 1 : 0;
}

std::size_t stays_in_file(std::string_view text) {
  const char c = text.front();
  return is_printable_ascii(c) && c != '\\' && c != ' ' ? 1 : 0;
}

void take_escaped(std::string_view& text, std::string& out, EscapeRule stays) {
  const std::size_t length = stays(text);
  if (length == 0)
    append_escaped(out, text.front());
  else
    out += text.substr(0, length);
  text.remove_prefix(std::max<std::size_t>(length, 1));
}

std::string escaped(std::string_view text, EscapeRule stays) {
  std::string out;
  std::size_t staying = 0;  // unescaped bytes at the front of `text`
  while (staying < text.size()) {
    const std::size_t length = stays(text.substr(staying));
    staying += length;
    if (length > 0) continue;
    out += text.substr(0, staying);
    append_escaped(out, text[staying]);
    text.remove_prefix(staying + 1);
    staying = 0;
  }
  return out += text;
}

}  // namespace pcp::trace::agent
