// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the processes that this process has started. The kernel knows each process's parent; an
// orphan's parent is the nearest ancestor that adopts orphans, as a recorder does.
#pragma once

#include <cstdint>

namespace pcp::trace::agent {

// True if this process, or one of its descendants, started the user's process `pid`. False if that
// process has ended or cannot be inspected.
bool is_descendant(std::uint32_t pid, std::uint32_t uid);

}  // namespace pcp::trace::agent
