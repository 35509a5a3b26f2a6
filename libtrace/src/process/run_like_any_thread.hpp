// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the flusher's thread runs: like any thread of the process. The thread whose call made it
// may be bound to a processor or run in real time.
#pragma once

namespace pcp::trace::client {

// Moves the calling thread to the processors that the process had at load time, and out of real
// time. Ignores errors. Thread: the flusher's.
void run_like_any_thread();

}  // namespace pcp::trace::client
