// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace pcp::trace {

namespace {

constexpr std::string_view kMark = "...";

void append_escaped(std::string& out, char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
}

bool is_printable_ascii(char c) { return c >= ' ' && c < 0x7f; }

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_printable_ascii(c); });
}

// JSON has its own escapes for ASCII's control characters.
std::size_t stays_in_json(std::string_view text) {
  return static_cast<unsigned char>(text.front()) < 0x80 ? 1 : stays_in_name(text);
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
  if (is_printable_ascii(c) || (c & 0x80) != 0) {
    if (c == '"' || c == '\\') *end++ = '\\';
    *end++ = c;
    return;
  }
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char part : {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]}) *end++ = part;
}

}  // namespace

std::size_t stays_in_name(std::string_view text) {
  const auto [bytes, number] = first_character(text);
  const bool is_control = number < 0x20 || (number >= 0x7f && number < 0xa0);
  return is_control || is_invisible(number) ? 0 : bytes;
}

std::size_t stays_in_log(std::string_view text) {
  const char c = text.front();
  return is_printable_ascii(c) && c != '\\' && c != '"' ? 1 : 0;
}

std::size_t stays_in_file(std::string_view text) {
  const char c = text.front();
  return is_printable_ascii(c) && c != '\\' && c != ' ' ? 1 : 0;
}

std::size_t none_stays(std::string_view) { return 0; }

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

std::string printable(std::string_view text, std::size_t most, EscapeRule stays) {
  if (text.size() <= most && is_printable_ascii(text) && !text.starts_with(' ')) [[likely]]
    return std::string(text);
  return shown(text, most, none_stays, stays);
}

// Writes through a pointer, without growing the string: an answer may have 100,000 long texts.
std::string json_string(std::string_view text, std::size_t most) {
  const bool is_simple = text.size() <= most && is_printable_ascii(text);
  std::string kept;
  if (!is_simple) text = kept = shown(text, most, stays_in_json, stays_in_json);
  std::string result((is_simple ? 2 : 6) * text.size() + 2, '"');
  char* end = result.data() + 1;
  for (const char c : text) append_json(end, c);
  *end++ = '"';
  result.resize(static_cast<std::size_t>(end - result.data()));
  return result;
}

}  // namespace pcp::trace
