// SPDX-License-Identifier: LGPL-2.1-or-later
// The tops of filters with slower=, while they are open: for which places they are the top, and
// whether anything captured has begun inside of them. By the number of the entry in the open table,
// in memory that is made when the first comes, and that the kernel wipes in a forked child.
#pragma once

#include <cstdint>

#include "record/captures.hpp"
#include "record/open_table.hpp"

namespace pcp::trace::client {

struct SlowTop {
  Places places = 0;    // by which it is captured
  Places left_out = 0;  // by which it is not, for want of room: if it is slow, it was missed
  bool has_inside = true;

  bool is_any() const { return (places | left_out) != 0; }
};

// Thread: that of the begin. Where there is no memory it is as if it were no top.
void note_slow_top(std::uint32_t entry, Moment begun, const SlowTop& top);

// Something has begun inside of whatever is open there. Thread: any.
void note_inside_slow_top(std::uint32_t entry);

// Thread: any.
SlowTop slow_top(std::uint32_t entry, Moment begun);

}  // namespace pcp::trace::client
