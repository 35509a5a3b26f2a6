// SPDX-License-Identifier: LGPL-2.1-or-later
// What the open transactions are to filters with slower=: the top of a tree, of which is kept all
// or nothing once it is known how long it took, or a part of one. And which other filters' limits
// have left them out, with all that is inside of them. By the number of the entry in the
// open table, in memory that is made when the first comes, and that the kernel wipes in a forked
// child.
#pragma once

#include <cstdint>

#include "record/captures.hpp"
#include "record/open_table.hpp"

namespace pcp::trace::client {

struct InSlowTree {
  Places tops = 0;          // by which it is captured, as a top
  Places left_out = 0;      // by which it is not, for want of room: if it is slow, it was missed
  std::uint32_t round = 0;  // of its thread's EndedInside, when it began
  OpenTable::Place around = OpenTable::kNowhere;  // what it is a part of,
  Moment around_begun = 0;                        // and since when that was open
  Places over_limit = 0;        // whose limit has left it out, or what it is a part of,
  CaptureSet::Epoch epoch = 0;  // of this set
};

// Thread: that of the begin. Where there is no memory nothing is known of it.
void note_in_slow_tree(std::uint32_t entry, Moment begun, const InSlowTree& what);

// Something has begun inside of this. Thread: any.
void note_begun_inside(std::uint32_t entry, Moment begun);

// What began inside of this has ended, and all of it is among what has ended on this thread.
// Thread: that of the begin.
void note_ended_inside(std::uint32_t entry, Moment begun);

// A top has ended, for which nobody hears of it: it was fast. Thread: that of the begin.
void note_fast(std::uint32_t entry, Moment begun, Places fast);

// Also of one that has ended, until another begins at its place. Thread: any.
struct SlowTreeNote {
  InSlowTree what;
  Places fast = 0;
  bool is_known = false;
  bool is_closed = false;  // all that has ever begun inside has ended so
};
SlowTreeNote find_in_slow_tree(std::uint32_t entry, Moment begun);

}  // namespace pcp::trace::client
