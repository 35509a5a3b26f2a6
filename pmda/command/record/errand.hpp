// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs long work on its own thread, so that ^C need not wait.
#pragma once

#include <functional>

#include "command/record/interruption.hpp"

namespace pcp::trace::command {

// Waits for the work's end, and for one more second after an interruption. True if the work has
// ended. If not, it continues, so it may use only its own data.
// Thread: the interruption's.
bool has_been_done(std::function<void()> work, Interruption& interruption);

}  // namespace pcp::trace::command
