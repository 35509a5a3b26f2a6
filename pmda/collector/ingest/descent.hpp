// SPDX-License-Identifier: LGPL-2.1-or-later
// Which processes this one has started: the kernel knows each one's parent, and an orphan's is its
// nearest ancestor that adopts orphans, as a recorder does.
#pragma once

#include <cstdint>

namespace pcp::trace::agent {

// Whether a process of this user was started by this one, or by one that was. False if it has ended
// or cannot be looked at.
bool is_descendant(std::uint32_t pid, std::uint32_t uid);

}  // namespace pcp::trace::agent
