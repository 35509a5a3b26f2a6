// SPDX-License-Identifier: LGPL-2.1-or-later
// A time on the command line.
#pragma once

#include <string>

#include "metrics/parse_argument.hpp"

namespace pcp::trace::command {

// As PCP's tools take a time, but that they read 500ms as 500 minutes.
inline Result<agent::Time> parse_time(const std::string& text) {
  const bool is_msec = text.size() > 2 && text.ends_with("ms") &&
                       text.find_first_not_of("0123456789.") == text.size() - 2;
  return agent::parse_period(is_msec ? text.substr(0, text.size() - 1) + "sec" : text);
}

}  // namespace pcp::trace::command
