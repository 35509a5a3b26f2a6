// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a process of this host has ended.
#pragma once

#include <cstdint>

namespace pcp::trace::agent {

// Also true of one that nobody has waited for yet. False if it cannot be told.
bool has_ended(std::uint32_t pid);

}  // namespace pcp::trace::agent
