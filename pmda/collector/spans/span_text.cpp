// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/span_text.hpp"

#include <charconv>

#include "base/escape.hpp"

namespace pcp::trace::agent {

namespace {

void put_hex(char* to, std::uint64_t id) {
  for (int i = 15; i >= 0; --i, id >>= 4) to[i] = "0123456789abcdef"[id & 15];
}

std::size_t stays_in_value(std::string_view text) {
  const char c = text.front();
  return c == ' ' || c == '\\' ? 0 : stays_in_name(text);
}

std::size_t stays_in_key(std::string_view text) {
  return text.front() == '=' ? 0 : stays_in_value(text);
}

bool is_number(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc::invalid_argument && rest == text.data() + text.size();
}

bool append(std::string& attributes, std::string_view key, std::string_view value) {
  const std::size_t before = attributes.size();
  if (before > 0) attributes += ' ';
  attributes += escaped(key, stays_in_key);
  attributes += '=';
  attributes += value;
  if (attributes.size() <= kMostAttributeBytes) return true;
  attributes.resize(before);
  return false;
}

}  // namespace

std::array<char, 17> hex_of(std::uint64_t id) {
  std::array<char, 17> text{};
  put_hex(text.data(), id);
  return text;
}

std::array<char, 33> hex_of(std::uint64_t high, std::uint64_t low) {
  std::array<char, 33> text{};
  put_hex(text.data(), high);
  put_hex(text.data() + 16, low);
  return text;
}

bool append_attribute(std::string& attributes, std::string_view key, std::string_view text) {
  if (attributes.size() + text.size() > kMostAttributeBytes) return false;  // escapes add bytes
  std::string value;
  if (is_number(text)) take_escaped(text, value, none_stays);
  return append(attributes, key, value + escaped(text, stays_in_value));
}

bool append_attribute(std::string& attributes, std::string_view key, double number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return append(attributes, key, std::string_view(text.data(), end));
}

void append_link(std::string& links, std::uint64_t trace_high, std::uint64_t trace_low,
                 std::uint64_t span) {
  if (!links.empty()) links += ' ';
  links += hex_of(trace_high, trace_low).data();
  links += '-';
  links += hex_of(span).data();
}

}  // namespace pcp::trace::agent
