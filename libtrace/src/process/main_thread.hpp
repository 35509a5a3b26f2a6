// SPDX-License-Identifier: LGPL-2.1-or-later
// A process whose main thread left by pthread_exit ends with its last thread: the C library then
// calls exit(0). The library's own thread must not keep such a process alive.
#pragma once

namespace pcp::trace::client {

// Main has left by pthread_exit; not by exit() or return, which end the process. Thread: any.
bool has_main_left();

// No other thread lives, except perhaps an ended main. May be wrong while a thread begins or ends.
// Requires: has_main_left().
bool is_last_thread();

}  // namespace pcp::trace::client
