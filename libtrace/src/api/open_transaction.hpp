// SPDX-License-Identifier: LGPL-2.1-or-later
// How the library uses the 64 bytes of a pmtrace_tx. The rest is kept for trace and span ids: begin
// does not touch it, end clears it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pcp/trace.h"
#include "record/open_table.hpp"

namespace pcp::trace::client {

struct OpenTransaction {
  const Tag* tag;
  Moment begun;
  OpenTable::Place place;
};
static_assert(sizeof(OpenTransaction) <= sizeof(pmtrace_tx));
static_assert(offsetof(OpenTransaction, tag) == 0,
              "the word by which the header tells one is open");

inline bool is_open(const pmtrace_tx* tx) { return tx->opaque[0] != 0; }

// Word by word: a processor that has just written words cannot read two of them as one at once.
inline OpenTransaction read(const pmtrace_tx* tx) {
  return {reinterpret_cast<const Tag*>(tx->opaque[0]), tx->opaque[1], tx->opaque[2]};
}
inline void write(pmtrace_tx* tx, const OpenTransaction& open) {
  tx->opaque[0] = reinterpret_cast<std::uintptr_t>(open.tag);
  tx->opaque[1] = open.begun;
  tx->opaque[2] = open.place;
}

}  // namespace pcp::trace::client
