// SPDX-License-Identifier: LGPL-2.1-or-later
// Questions about a text; the answer shows it where a test fails.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::command {

inline testing::AssertionResult has(std::string_view text, std::string_view part) {
  return testing::AssertionResult(text.find(part) != text.npos) << '"' << part << "\" in:\n"
                                                                << text;
}

inline testing::AssertionResult begins(std::string_view text, std::string_view part) {
  return testing::AssertionResult(text.starts_with(part)) << '"' << part << "\" at the begin of:\n"
                                                          << text;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace pcp::trace::command
