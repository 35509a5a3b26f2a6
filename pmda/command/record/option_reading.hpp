// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the parsers of command lines.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"

namespace pcp::trace::command {

// Stores an option's argument if it is valid.
template <typename Value, typename Target>
Result<void> take(Result<Value> parsed, Target& target) {
  if (!parsed) return parsed.error();
  target = *std::move(parsed);
  return {};
}

// Parses -h. A path is refused: PCP's library would take it for an archive.
inline Result<std::string> parse_host(const std::string& text) {
  if (text.empty()) return Error{"needs a host"};
  if (text.front() == '/') return Error{"a host is a name; for a socket, unix:" + text};
  return text;
}

// The option's name as the user typed it.
inline std::string option_name(const std::string& word, int letter) {
  if (word.starts_with("--")) return word.substr(0, word.find('='));
  return std::string{'-', static_cast<char>(letter)};
}

}  // namespace pcp::trace::command
