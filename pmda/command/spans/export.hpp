// SPDX-License-Identifier: LGPL-2.1-or-later
// `pcp trace export`: single transactions for the tools of others.
#pragma once

namespace pcp::trace::command {

// Gives the exit status.
int export_spans(int argc, char* const* argv);

}  // namespace pcp::trace::command
