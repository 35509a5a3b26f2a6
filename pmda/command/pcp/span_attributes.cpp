// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/span_attributes.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace pcp::trace::command {

namespace {

// Decodes \xNN.
std::string plain(std::string_view text) {
  constexpr std::size_t kEscape = 4;
  std::string bytes;
  while (!text.empty()) {
    unsigned byte = 0;
    const bool is_escape = text.size() >= kEscape && text.starts_with("\\x") &&
                           std::from_chars(text.data() + 2, text.data() + kEscape, byte, 16).ptr ==
                               text.data() + kEscape;
    bytes += is_escape ? static_cast<char>(byte) : text.front();
    text.remove_prefix(is_escape ? kEscape : 1);
  }
  return bytes;
}

// An escaped text never parses as a number.
std::optional<double> as_number(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return number;
}

std::string in_quotes(std::string_view text) {
  std::string shown = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      shown += {'\\', c};
    else if (c == '\n' || c == '\t' || c == '\r')
      shown += {'\\', c == '\n' ? 'n' : c == '\t' ? 't' : 'r'};
    else
      shown += c;
  }
  return shown + '"';
}

std::string quoted_if_need_be(std::string_view text, bool is_number) {
  constexpr std::string_view kMisleading = " =\"\\\n\t\r";
  const bool misleads = text.empty() || text.find_first_of(kMisleading) != text.npos;
  return is_number || misleads ? in_quotes(text) : std::string(text);
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (length > 0) words.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

std::vector<ShownAttribute> attributes_of(std::string_view text) {
  std::vector<ShownAttribute> attributes;
  for (const std::string& word : words_of(text)) {
    const std::size_t sign = std::min(word.find('='), word.size());
    const std::string_view value = std::string_view(word).substr(std::min(sign + 1, word.size()));
    attributes.push_back(
        {plain(std::string_view(word).substr(0, sign)), plain(value), as_number(value)});
  }
  return attributes;
}

std::string shown_attributes(std::string_view text) {
  std::string shown;
  for (const std::string& word : words_of(text)) {
    const ShownAttribute attribute = attributes_of(word).front();
    const std::string_view value = std::string_view(word).substr(word.find('=') + 1);
    shown += (shown.empty() ? "" : " ") + quoted_if_need_be(attribute.key, false) + "=";
    // The agent has escaped a text that looks like a number.
    shown += attribute.number
                 ? std::string(value)
                 : quoted_if_need_be(attribute.text, as_number(attribute.text).has_value());
  }
  return shown;
}

}  // namespace pcp::trace::command
