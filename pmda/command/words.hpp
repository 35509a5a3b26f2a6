// SPDX-License-Identifier: LGPL-2.1-or-later
// The words of pcp-trace. Each returns its exit status.
#pragma once

#include <string>

namespace pcp::trace::command {

int record(int argc, char* const* argv);
int report(int argc, char* const* argv);
int spans(int argc, char* const* argv);
int export_spans(int argc, char* const* argv);

// Without a word, on a terminal: a few lines about what is here, and what to type next. Waits no
// longer than some seconds for this host's pmcd.
std::string overview();

}  // namespace pcp::trace::command
