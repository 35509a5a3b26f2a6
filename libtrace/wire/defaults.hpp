// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a traced program and the agent find each other when nobody says otherwise.
#pragma once

#include <cstdint>

namespace pcp::trace {

inline constexpr std::uint16_t kDefaultPort = 4323;
inline constexpr const char* kSocketFile = "trace.socket";  // in PCP_RUN_DIR

}  // namespace pcp::trace
