// SPDX-License-Identifier: LGPL-2.1-or-later
// The words of pcp-trace, which return an exit status, and their lines on standard error.
#pragma once

#include <cstddef>
#include <exception>
#include <iostream>
#include <string>

#include "base/escape.hpp"

namespace pcp::trace::command {

int record(int argc, char* const* argv);
int report(int argc, char* const* argv);
int spans(int argc, char* const* argv);
int export_spans(int argc, char* const* argv);
int top(int argc, char* const* argv);

// Without a word, on a terminal: a few lines about what is here, and what to type next. Waits no
// longer than some seconds for this host's pmcd.
std::string overview();

inline constexpr std::size_t kLongestComplaint = 1000;

// Prints "pcp-trace WORD: WHY". WHY often repeats what a user or a file says: what a terminal
// would obey is printed as \xNN.
inline void complain(const char* word, const std::string& why) {
  // In one piece: other threads may complain meanwhile.
  std::cerr << std::string("pcp-trace ") + word + ": " + printable(why, kLongestComplaint) + "\n"
            << std::flush;
}

// An exception is no mistake of the user, nor of an archive.
inline void complain_of_fault(const char* word, const std::exception& fault) {
  complain(word, std::string("internal error: ") + fault.what());
}

}  // namespace pcp::trace::command
