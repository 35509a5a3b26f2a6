// SPDX-License-Identifier: LGPL-2.1-or-later
// Words on a command line, as main() gets them.
#pragma once

#include <string>
#include <vector>

namespace pcp::trace {

// Gives what such a parser makes of these words behind the command's name, which it passes over.
template <typename Parsed>
Parsed parse_words(Parsed (*parse)(int, char* const*), std::vector<std::string> words) {
  words.insert(words.begin(), "command");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse(static_cast<int>(words.size()), argv.data());
}

}  // namespace pcp::trace
