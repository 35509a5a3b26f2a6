// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads archives in a child process: for some damaged archives PCP's library crashes, loops
// forever, or allocates memory without limit.
//
// Thread: the only one.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace pcp::trace::command {

// Runs `work` in a child, with limits, and returns its status. If the child does not finish: names
// the damaged archive on standard error, as `pcp-trace word`, and returns `damaged`. A signal meant
// for the user's command (e.g. SIGINT) that ended the child also ends this process.
int guarded(const char* word, int damaged, const std::function<int()>& work);

// Opens a context of PCP's library. The archive's size raises the limits.
Result<int> open_archive(const std::string& path);

}  // namespace pcp::trace::command
