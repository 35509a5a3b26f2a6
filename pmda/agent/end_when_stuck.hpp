// SPDX-License-Identifier: LGPL-2.1-or-later
// For the end of a process, which a disk that hangs must not keep for ever.
#pragma once

namespace pcp::trace::agent {

// From now on the process exits with status 1 once it has done next to nothing for so many seconds
// in a row. As long as it computes it may go on: a busy machine is no disk that hangs. Takes
// SIGALRM for itself.
void end_when_stuck(int seconds);

}  // namespace pcp::trace::agent
