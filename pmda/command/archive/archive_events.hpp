// SPDX-License-Identifier: LGPL-2.1-or-later
// An array of event records in the form of archives.
#pragma once

#include <string>

#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// Gives the whole array with the value's head, in big-endian numbers. A malformed array becomes one
// without records.
std::string archived_events(const pmValueBlock& block);

}  // namespace pcp::trace::command
