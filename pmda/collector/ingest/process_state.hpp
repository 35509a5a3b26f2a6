// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers of /proc about processes and threads of this host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pcp::trace::agent {

// The state's letter in a file "stat" of /proc, see proc(5). 0 if unknown.
char state_in(const std::string& stat);

// True for a zombie, too. False if unknown.
bool has_ended(std::uint32_t pid);

// True if this process, or one of its descendants, started the user's process `pid`. An orphan's
// parent is the nearest ancestor that adopts orphans, as a recorder does. Nothing if the process
// has ended or cannot be inspected.
std::optional<bool> is_descendant(std::uint32_t pid, std::uint32_t uid);

// True if another thread of this process is running or ready to run. False if unknown.
bool is_another_thread_busy();

}  // namespace pcp::trace::agent
