// SPDX-License-Identifier: LGPL-2.1-or-later
// `pcp trace report`.
#pragma once

namespace pcp::trace::command {

// Returns the exit status.
int report(int argc, char* const* argv);

}  // namespace pcp::trace::command
