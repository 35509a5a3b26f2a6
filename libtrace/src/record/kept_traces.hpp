// SPDX-License-Identifier: LGPL-2.1-or-later
// The traces of open transactions for which the program keeps no memory: those by name, and Java's.
// By the number of the entry in the open table, in memory that is made when the first comes, and
// that the kernel wipes in a forked child.
#pragma once

#include <cstdint>
#include <optional>

#include "record/open_table.hpp"
#include "record/trace_context.hpp"

namespace pcp::trace::client {

struct KeptTrace {
  Moment begun;
  OpenTable::Place place;  // with its marks
  TraceContext context;
};

// Thread: that of the begin, before anybody else can know of it. Nothing is kept where there is no
// memory.
void keep_trace(std::uint32_t entry, const KeptTrace& trace);

// What was kept of the transaction that began there then. Thread: any.
std::optional<KeptTrace> find_trace(std::uint32_t entry, Moment begun);

}  // namespace pcp::trace::client
