// SPDX-License-Identifier: LGPL-2.1-or-later
// Words that the library says only once in a process.
#pragma once

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace pcp::trace {

// Runs `work` in a process of its own. Expects that it gives true, and that the process says
// exactly this: a regular expression, of lines.
template <typename Work>
void expect_said(Work work, const std::string& said) {
  EXPECT_EXIT(std::_Exit(work() ? 7 : 0), testing::ExitedWithCode(7), '^' + said + '$');
}

}  // namespace pcp::trace
