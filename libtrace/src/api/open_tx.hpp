// SPDX-License-Identifier: LGPL-2.1-or-later
// Layout of a pmtrace_tx's 64 bytes: an OpenTransaction, and five words. These words are a
// TraceContext if the ref has kHasTrace; otherwise begin does not touch them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "pcp/trace.h"
#include "thread/recorder.hpp"

namespace pcp::trace::client {

static_assert(sizeof(OpenTransaction) + sizeof(TraceContext) == sizeof(pmtrace_tx));
static_assert(offsetof(OpenTransaction, tag) == 0,
              "the word by which the header tells one is open");

inline bool is_open(const pmtrace_tx* tx) { return tx->opaque[0] != 0; }

// Word by word: a processor stalls if it reads two just-written words as one.
inline OpenTransaction read(const pmtrace_tx* tx) {
  return {reinterpret_cast<const Tag*>(tx->opaque[0]), {tx->opaque[1], tx->opaque[2]}};
}
inline void write(pmtrace_tx* tx, const OpenTransaction& open) {
  tx->opaque[0] = reinterpret_cast<std::uintptr_t>(open.tag);
  tx->opaque[1] = open.begun.moment;
  tx->opaque[2] = open.begun.ref;
}

// Gives no trace if the transaction has none. Also valid in a copy of an ended transaction.
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
inline void write(pmtrace_tx* tx, const Tag* tag, const Traced& traced) {
  write(tx, {tag, traced.begun});
  if (traced.context.is_trace()) write_context(tx, traced.context);
}

}  // namespace pcp::trace::client
