// SPDX-License-Identifier: LGPL-2.1-or-later
// Default addresses at which a traced program finds the agent, and variables of other programs.
#pragma once

#include <array>
#include <cstdint>

namespace pcp::trace {

inline constexpr std::uint16_t kDefaultPort = 4323;
inline constexpr const char* kSocketFile = "trace.socket";  // in PCP_RUN_DIR

// The rank of a process in its job: variables of launchers. Those of MPI come first, because one
// launcher may start another.
inline constexpr std::array kRankVariables{
    "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
    "PALS_RANKID",          "FLUX_TASK_RANK",      "SLURM_PROCID"};

}  // namespace pcp::trace
