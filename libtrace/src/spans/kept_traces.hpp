// SPDX-License-Identifier: LGPL-2.1-or-later
// The traces of open transactions for which the program keeps no memory: by name, and Java's.
// Indexed by entry number in the open table. Allocated at first use; the kernel wipes it in a
// forked child.
#pragma once

#include <cstdint>
#include <optional>

#include "open/open_table.hpp"
#include "spans/trace_context.hpp"

namespace pcp::trace::client {

struct Traced {
  Begun begun;  // its ref has marks
  TraceContext context;
};

// Thread: the begin's, before any other thread knows the transaction. Keeps nothing if there is no
// memory.
void keep_trace(std::uint32_t entry, const Traced& trace);

// The trace of the transaction that began in this entry at `begun`. Thread: any.
std::optional<Traced> find_trace(std::uint32_t entry, Moment begun);

}  // namespace pcp::trace::client
