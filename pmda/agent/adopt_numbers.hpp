// SPDX-License-Identifier: LGPL-2.1-or-later
// For the change from PCP's own trace agent: it numbered its instances in its own order, and
// archives and monitors that outlive the change know a tag by its number. So ours takes its numbers
// over.
#pragma once

#include <vector>

#include "collector/engine/instance_file.hpp"

namespace pcp::trace::agent {

// Reads tags and numbers from PCP's trace agent, which this machine's pmcd runs now, and puts them
// into the file. Says what it has done; false if it could not.
bool adopt_numbers(const InstanceFile& file, InstanceFile::Contents filed);

// The running agent's numbers, and of the file's those that do not contradict them.
std::vector<KnownInstance> merge_numbers(std::vector<KnownInstance> running,
                                         std::vector<KnownInstance> filed);

}  // namespace pcp::trace::agent
