// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that reads as zero in a forked child.
#pragma once

#include <cstddef>

namespace pcp::trace::client {

// Null if there is none. Never freed.
void* allocate_wiped_memory(std::size_t bytes);

}  // namespace pcp::trace::client
