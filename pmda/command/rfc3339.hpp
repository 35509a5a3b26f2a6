// SPDX-License-Identifier: LGPL-2.1-or-later
// Times as text for programs.
#pragma once

#include <chrono>
#include <string>

namespace pcp::trace::command {

// In UTC, with nanoseconds: "2026-11-22T16:33:08.000000000Z".
std::string rfc3339(std::chrono::sys_time<std::chrono::nanoseconds> moment);

}  // namespace pcp::trace::command
