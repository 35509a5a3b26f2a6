// SPDX-License-Identifier: LGPL-2.1-or-later
// An array of event records as archives have it.
#pragma once

#include <pcp/pmapi.h>

#include <string>

namespace pcp::trace::command {

// All of it, with the head of the value: numbers are big-endian. Of an array that makes no sense
// only the head, so that it has no records.
std::string archived_events(const pmValueBlock& block);

}  // namespace pcp::trace::command
