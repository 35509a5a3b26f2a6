// SPDX-License-Identifier: LGPL-2.1-or-later
// The time zone of a recorded host at some time, because browsers do not know all forms of TZ.
//
// Thread: the main one, like all of libpcp's time functions.
#pragma once

#include <chrono>
#include <string>

#include "command/model/model.hpp"

namespace pcp::trace::command {

struct RunZone {
  std::string name;  // "CET"
  std::chrono::seconds east_of_utc{};
};

// `time_zone` in the form of TZ; empty: this process's zone.
RunZone zone_of(const std::string& time_zone, Moment at);

}  // namespace pcp::trace::command
