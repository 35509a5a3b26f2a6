// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/labels.hpp"

#include <charconv>

namespace pcp::trace::command {

namespace {

// Decodes a JSON string, for the escapes that our agent and `record` use.
std::string unescaped(std::string_view json) {
  constexpr std::string_view kByNumber = "\\u00";
  std::string text;
  while (!json.empty()) {
    std::size_t length = json.starts_with('\\') && json.size() > 1 ? 2 : 1;
    char c = json[length - 1];
    if (json.starts_with(kByNumber) && json.size() >= kByNumber.size() + 2) {
      length = kByNumber.size() + 2;
      std::from_chars(json.begin() + kByNumber.size(), json.begin() + length, c, 16);
    }
    text += c;
    json.remove_prefix(length);
  }
  return text;
}

}  // namespace

std::string label_of(const pmLabelSet& set, std::string_view name) {
  for (int i = 0; i < set.nlabels; ++i) {
    const pmLabel& label = set.labels[i];
    if (std::string_view(set.json + label.name, label.namelen) != name) continue;
    std::string_view value(set.json + label.value, label.valuelen);
    return value.starts_with('"') ? unescaped(value.substr(1, value.size() - 2))
                                  : std::string(value);
  }
  return "";
}

}  // namespace pcp::trace::command
