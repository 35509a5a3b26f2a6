// SPDX-License-Identifier: LGPL-2.1-or-later
// For the end of a process, which a disk that hangs must not keep for ever.
#pragma once

namespace pcp::trace::agent {

// From now on the process exits with status 1 once all of its threads have been seen waiting for so
// many seconds in a row. Whoever computes goes on: a busy machine is no disk that hangs. The thread
// that looks lasts as long as the process.
void end_when_stuck(int seconds);

}  // namespace pcp::trace::agent
