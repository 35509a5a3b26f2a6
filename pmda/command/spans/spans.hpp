// SPDX-License-Identifier: LGPL-2.1-or-later
// `pcp trace spans`: single transactions on hosts as they happen.
#pragma once

namespace pcp::trace::command {

// Returns the exit status.
int spans(int argc, char* const* argv);

}  // namespace pcp::trace::command
