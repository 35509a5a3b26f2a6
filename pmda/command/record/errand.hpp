// SPDX-License-Identifier: LGPL-2.1-or-later
// Work that may have to wait for long, done on a thread of its own, so that ^C need not wait.
#pragma once

#include <functional>

#include "command/record/interruption.hpp"

namespace pcp::trace::command {

// Waits for the work's end, and after an interruption a second more. Gives whether it has ended; if
// not, it goes on, and may use only what belongs to it.
// Thread: the interruption's.
bool has_been_done(std::function<void()> work, Interruption& interruption);

}  // namespace pcp::trace::command
