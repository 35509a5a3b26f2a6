// SPDX-License-Identifier: LGPL-2.1-or-later
// How the library uses the 64 bytes of a pmtrace_tx. The rest is kept for trace and span ids: begin
// does not touch it, end clears it.
#pragma once

#include <cstddef>
#include <cstring>

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

inline OpenTransaction read(const pmtrace_tx* tx) {
  OpenTransaction open;
  std::memcpy(&open, tx, sizeof open);
  return open;
}

// Nothing but these words, which is quick.
inline void write(pmtrace_tx* tx, const OpenTransaction& open) {
  std::memcpy(tx, &open, sizeof open);
}

}  // namespace pcp::trace::client
