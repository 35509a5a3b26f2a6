// SPDX-License-Identifier: LGPL-2.1-or-later
// `pcp trace export`: single transactions for other viewers.
#pragma once

namespace pcp::trace::command {

// Returns the exit status.
int export_spans(int argc, char* const* argv);

}  // namespace pcp::trace::command
