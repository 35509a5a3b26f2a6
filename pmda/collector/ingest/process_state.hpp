// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernel says of a process or a thread of this host.
#pragma once

#include <cstdint>
#include <string>

namespace pcp::trace::agent {

// The letter of the state in a file "stat" of /proc: proc(5). 0 if it cannot be told.
char state_in(const std::string& stat);

// Also true of one that nobody has waited for yet. False if it cannot be told.
bool has_ended(std::uint32_t pid);

// Whether any other thread of this process has a processor, or would have one if the machine were
// less busy. False if it cannot be told.
bool others_compute();

}  // namespace pcp::trace::agent
