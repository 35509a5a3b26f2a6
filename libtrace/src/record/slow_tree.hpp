// SPDX-License-Identifier: LGPL-2.1-or-later
// Per open transaction, for filters with slower=: whether it is the top of a tree, kept or dropped
// as a whole once its duration is known, or a part of one. Also the filters whose limit left it
// out. Indexed by entry number in the open table. Allocated at first use; the kernel wipes it in a
// forked child.
#pragma once

#include <cstdint>

#include "record/captures.hpp"
#include "record/open_table.hpp"

namespace pcp::trace::client {

struct InSlowTree {
  Places tops = 0;          // places that capture it as a top
  Places left_out = 0;      // places without room for it: missed if it is slow
  std::uint32_t round = 0;  // its thread's EndedInside::round() at its begin
  OpenTable::Place around = OpenTable::kNowhere;  // its parent
  Moment around_begun = 0;                        // the parent's begin
  Places over_limit = 0;        // places whose limit left out this or an enclosing one
  CaptureSet::Epoch epoch = 0;  // of the set that `over_limit` is of
};

// Thread: the begin's. Without memory nothing is noted.
void note_in_slow_tree(std::uint32_t entry, Moment begun, const InSlowTree& what);

// A transaction or event began inside of this. Thread: any.
void note_begun_inside(std::uint32_t entry, Moment begun);

// A span that began inside of this ended, and this thread's EndedInside holds it and all of its
// parts. Thread: the begin's.
void note_ended_inside(std::uint32_t entry, Moment begun);

// A top has ended fast, and was dropped for these places. Thread: the begin's.
void note_fast(std::uint32_t entry, Moment begun, Places fast);

// Also finds an ended transaction until the next begin in its entry. Thread: any.
struct SlowTreeNote {
  InSlowTree what;
  Places fast = 0;
  bool is_known = false;
  bool is_closed = false;  // all spans begun inside called note_ended_inside()
};
SlowTreeNote find_in_slow_tree(std::uint32_t entry, Moment begun);

}  // namespace pcp::trace::client
