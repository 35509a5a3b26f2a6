// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the library's own thread runs: like any thread of the process, not like the one whose first
// call made it, which may be bound to a processor or run in real time.
#pragma once

namespace pcp::trace::client {

// Lets the calling thread run on the processors that the process had when the library was loaded,
// and not in real time. What is not allowed stays as it is. Thread: the flusher's.
void run_like_any_thread();

}  // namespace pcp::trace::client
