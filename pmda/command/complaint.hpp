// SPDX-License-Identifier: LGPL-2.1-or-later
// A line on standard error.
#pragma once

#include <iostream>
#include <string>

#include "base/escape.hpp"

namespace pcp::trace::command {

inline constexpr std::size_t kLongestComplaint = 1000;

// Prints "pcp-trace WORD: WHY". WHY often repeats what a user or a file says: control bytes, which
// a terminal would obey, are printed as \xNN.
inline void complain(const char* word, const std::string& why) {
  std::cerr << "pcp-trace " << word << ": " << printable(why, kLongestComplaint) << std::endl;
}

}  // namespace pcp::trace::command
