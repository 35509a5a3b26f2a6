// SPDX-License-Identifier: LGPL-2.1-or-later
// How the clocks of a recorded host ran at a time: a browser does not know all that TZ may say.
//
// Thread: the main one, as for all that asks libpcp for times.
#pragma once

#include <chrono>
#include <string>

#include "command/model/model.hpp"

namespace pcp::trace::command {

struct RunZone {
  std::string name;  // "CET"
  std::chrono::seconds east_of_utc{};
};

// `time_zone` as TZ has it; if empty, that of this process.
RunZone zone_of(const std::string& time_zone, Moment at);

}  // namespace pcp::trace::command
