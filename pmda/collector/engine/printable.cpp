// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/printable.hpp"

#include <algorithm>

#include "collector/engine/escape.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::string_view kMark = "...";

std::size_t none_stays(std::string_view) { return 0; }

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

bool is_plain(std::string_view text, std::size_t most) {
  return text.size() <= most &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); });
}

std::string shown(std::string_view text, std::size_t most, EscapeRule leading_blank,
                  EscapeRule other) {
  std::string out;
  out.reserve(std::min(text.size(), most) + kMark.size() + 1);
  std::size_t cut = 0;  // where the mark goes if the rest does not fit
  bool leading = true;
  while (!text.empty()) {
    leading = leading && text.front() == ' ';
    take_escaped(text, out, leading ? leading_blank : other);
    if (out.size() > most) return out.substr(0, cut).append(kMark);
    if (out.size() + kMark.size() <= most) cut = out.size();
  }
  return out;
}

// Appends one byte of a string of JSON.
void append_json(char*& end, char c) {
  if (is_plain(c) || (c & 0x80) != 0) {
    if (c == '"' || c == '\\') *end++ = '\\';
    *end++ = c;
    return;
  }
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char part : {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]}) *end++ = part;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  if (is_plain(text, most) && !text.starts_with(' ')) [[likely]]
    return std::string(text);
  return shown(text, most, none_stays, stays_in_name);
}

// Writes through a pointer, without growing the string: an answer may have 100,000 long texts.
std::string json_string(std::string_view text, std::size_t most) {
  const bool is_simple = is_plain(text, most);
  std::string kept;
  if (!is_simple) text = kept = shown(text, most, stays_in_label, stays_in_label);
  std::string result((is_simple ? 2 : 6) * text.size() + 2, '"');
  char* end = result.data() + 1;
  for (const char c : text) append_json(end, c);
  *end++ = '"';
  result.resize(static_cast<std::size_t>(end - result.data()));
  return result;
}

}  // namespace pcp::trace::agent
