// SPDX-License-Identifier: LGPL-2.1-or-later
// Questions about a text; the answer shows it where a test fails.
#pragma once

#include <string_view>

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

}  // namespace pcp::trace::command
