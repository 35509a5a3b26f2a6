// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts a thread's heap calls, and the program's heap bytes: replaces malloc and its kin, in the
// linked program, by functions that count and call the C library's.
#pragma once

#include <cstdint>

namespace pcp::trace {

// Calls of malloc, free and the like by the calling thread.
std::uint64_t heap_calls();

// Bytes that all threads together have allocated and not freed.
std::uint64_t heap_bytes();

}  // namespace pcp::trace
