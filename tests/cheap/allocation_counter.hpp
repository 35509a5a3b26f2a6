// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts what a thread asks of the heap, and what the program has of it: malloc and its kin are
// replaced, in a program that this is linked into, by ones that count and pass on to the C library.
#pragma once

#include <cstdint>

namespace pcp::trace {

// Calls of malloc, free and the like by the calling thread.
std::uint64_t heap_calls();

// Bytes that all threads together have allocated and not freed.
std::uint64_t heap_bytes();

}  // namespace pcp::trace
