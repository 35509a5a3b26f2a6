// SPDX-License-Identifier: LGPL-2.1-or-later
// For the change from PCP's own trace agent. PCP's agent numbered its instances in its own order;
// archives and monitors that outlive the change know a tag by its number. So our agent adopts those
// numbers.
#pragma once

#include <vector>

#include "collector/engine/instance_file.hpp"

namespace pcp::trace::agent {

// Reads tags and numbers from PCP's trace agent, which this machine's pmcd must be running, and
// writes them to the file. Prints the result; false on failure.
bool adopt_numbers(const InstanceFile& file, InstanceFile::Contents filed);

// The running agent's numbers, and those of the file that do not contradict them.
std::vector<KnownInstance> merge_numbers(std::vector<KnownInstance> running,
                                         std::vector<KnownInstance> filed);

}  // namespace pcp::trace::agent
