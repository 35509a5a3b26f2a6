// SPDX-License-Identifier: LGPL-2.1-or-later
// Moves records from a thread's recorder into Pending, and adds them to what an MMV file shows.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>

#include "counts/pending.hpp"
#include "mmv/mmv_totals.hpp"
#include "thread/recorder.hpp"

namespace pcp::trace::client {

class Drain {
 public:
  // `totals` may be null.
  explicit Drain(Pending& pending, MmvTotals* totals = nullptr)
      : pending_(pending), totals_(totals) {}

  // Takes the records up to now, in order; bounded even if the owner never pauses. True if there
  // were any. Throws if there is no memory: the rest stays in the recorder. Cells also stay there
  // while their owner is busy (was_busy()).
  bool drain(Recorder& recorder, std::uint64_t now_ns);

  // Takes new descriptions. True if one must be sent without a call; a tag without calls is
  // described with its first call. Requires: after drain().
  bool drain_descriptions();

 private:
  bool drain_records(Recorder& recorder, std::uint64_t until, std::uint64_t now_ns);
  bool drain_cells(Overflow& overflow, std::uint64_t now_ns);

  Pending& pending_;
  MmvTotals* const totals_;
  OverflowSlab spare_;  // empty; exchanged with each thread's slab
};

}  // namespace pcp::trace::client
