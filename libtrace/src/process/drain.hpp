// SPDX-License-Identifier: LGPL-2.1-or-later
// The way of what was recorded: out of a thread's recorder, into Pending.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>

#include "delivery/pending.hpp"
#include "record/recorder.hpp"

namespace pcp::trace::client {

class Drain {
 public:
  explicit Drain(Pending& pending) : pending_(pending) {}

  // Takes what was recorded until now, in the order of recording; bounded even if the owner never
  // pauses. True if there was anything. Throws if there is no memory: what has not been taken then
  // stays with the recorder. Cells stay there, too, while their owner is busy (was_busy()).
  bool take(Recorder& recorder, std::uint64_t now_ns);

  // Takes what was said of tags. True if any of it has to be sent by itself: of a tag that nobody
  // has called yet it goes with the first call. To be called after take().
  bool take_descriptions();

 private:
  bool take_records(Recorder& recorder, std::uint64_t until, std::uint64_t now_ns);
  bool take_cells(Overflow& overflow, std::uint64_t now_ns);

  Pending& pending_;
  OverflowSlab spare_;  // what each thread with cells gets for its own; empty
};

}  // namespace pcp::trace::client
