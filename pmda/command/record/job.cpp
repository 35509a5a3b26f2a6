// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/job.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "command/arguments.hpp"
#include "wire/defaults.hpp"

namespace pcp::trace::command {

namespace {

// The ranks of the job, and those of them on this host. Only ranks have these variables.
struct Sizes {
  const char* all;
  const char* here;
};
constexpr std::array kSizes{Sizes{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                            Sizes{"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
                            Sizes{"PMI_SIZE", "MPI_LOCALNRANKS"},  // MPICH, Intel MPI
                            Sizes{"PMI_SIZE", "PMI_LOCAL_SIZE"}};  // PALS

// The hosts of the job. The last two are of Slurm's allocation: scripts have them, too.
constexpr std::array kHosts{"SLURM_STEP_NUM_NODES", "FLUX_JOB_NNODES", "SLURM_JOB_NUM_NODES",
                            "SLURM_NNODES"};

// Nothing if the variable is not a positive number.
std::optional<std::uint64_t> count_in(const Variables& variables, const char* name) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const char* const text = variables(name);
  return text == nullptr ? std::nullopt : positive_number(text, kMost);
}

std::string elsewhere(const Variables& variables) {
  for (const auto& [all_name, here_name] : kSizes) {
    const auto all = count_in(variables, all_name);
    const auto here = count_in(variables, here_name);
    if (!all || !here) continue;
    if (*here >= *all) return "";
    return std::to_string(*here) + " of the " + std::to_string(*all) +
           " ranks of the job are on this host";
  }
  for (const char* const name : kHosts) {
    const auto hosts = count_in(variables, name);
    if (hosts) return *hosts == 1 ? "" : "the job has " + std::to_string(*hosts) + " hosts";
  }
  return "";
}

}  // namespace

std::string rank_in_job(const Variables& variables) {
  for (const char* const name : kRankVariables)
    if (const char* const rank = variables(name)) return rank;
  return "";
}

std::string what_of_the_job_is_elsewhere(const Variables& variables) {
  const std::string rank = rank_in_job(variables);
  return rank.empty() || rank == "0" ? elsewhere(variables) : "";
}

}  // namespace pcp::trace::command
