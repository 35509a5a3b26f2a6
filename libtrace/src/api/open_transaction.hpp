// SPDX-License-Identifier: LGPL-2.1-or-later
// How the library uses the 64 bytes of a pmtrace_tx. The last five words are those of a
// TraceContext, if the place says that it has one: begin does not touch them otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "pcp/trace.h"
#include "record/open_table.hpp"
#include "record/trace_context.hpp"

namespace pcp::trace::client {

struct OpenTransaction {
  const Tag* tag;
  Moment begun;
  OpenTable::Place place;
};
static_assert(sizeof(OpenTransaction) + sizeof(TraceContext) == sizeof(pmtrace_tx));
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

// No trace if it has none. Also of a copy whose transaction has ended.
inline TraceContext context_of(const pmtrace_tx* tx) {
  if ((tx->opaque[2] & OpenTable::kHasTrace) == 0) return {};
  std::array<std::uint64_t, 5> words;
  std::copy_n(tx->opaque + 3, words.size(), words.begin());
  return std::bit_cast<TraceContext>(words);
}
inline void write_context(pmtrace_tx* tx, const TraceContext& context) {
  const auto words = std::bit_cast<std::array<std::uint64_t, 5>>(context);
  std::copy(words.begin(), words.end(), tx->opaque + 3);
}

}  // namespace pcp::trace::client
