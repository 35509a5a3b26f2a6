// SPDX-License-Identifier: LGPL-2.1-or-later
// Default addresses at which a traced program finds the agent.
#pragma once

#include <cstdint>

namespace pcp::trace {

inline constexpr std::uint16_t kDefaultPort = 4323;
inline constexpr const char* kSocketFile = "trace.socket";  // in PCP_RUN_DIR

}  // namespace pcp::trace
