// SPDX-License-Identifier: LGPL-2.1-or-later
// Ends the process even if a disk hangs.
#pragma once

namespace pcp::trace::agent {

// From now on the process exits with status 1 once all its threads have been seen waiting for this
// many seconds in a row. A computing thread restarts the count: a busy machine is no hanging disk.
// The watching thread lives as long as the process.
void end_when_stuck(int seconds);

}  // namespace pcp::trace::agent
