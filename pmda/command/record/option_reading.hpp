// SPDX-License-Identifier: LGPL-2.1-or-later
// What readers of command lines share.
#pragma once

#include <string>
#include <utility>

#include "wire/result.hpp"

namespace pcp::trace::command {

// Takes an option's argument over, if it could be parsed.
template <typename Value, typename Target>
Result<void> take(Result<Value> parsed, Target& target) {
  if (!parsed) return parsed.error();
  target = *std::move(parsed);
  return {};
}

// The argument of -h. To PCP's library a path would be an archive.
inline Result<std::string> parse_host(const std::string& text) {
  if (text.empty()) return Error{"needs a host"};
  if (text.front() == '/') return Error{"a host is a name; for a socket, unix:" + text};
  return text;
}

// The option of a word as one writes it.
inline std::string option_name(const std::string& word, int letter) {
  if (word.starts_with("--")) return word.substr(0, word.find('='));
  return std::string{'-', static_cast<char>(letter)};
}

}  // namespace pcp::trace::command
