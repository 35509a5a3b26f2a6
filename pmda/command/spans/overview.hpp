// SPDX-License-Identifier: LGPL-2.1-or-later
// `pcp-trace` without a word, on a terminal: what is here, and what to type next.
#pragma once

#include <string>

namespace pcp::trace::command {

// A few lines. Waits no longer than some seconds for this host's pmcd.
std::string overview();

}  // namespace pcp::trace::command
