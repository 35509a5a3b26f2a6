// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/job.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

std::string elsewhere(const std::map<std::string, std::string>& variables) {
  return what_of_the_job_is_elsewhere([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Job, OfOneHostIsRecordedAsAWhole) {
  EXPECT_EQ(elsewhere({}), "");
  EXPECT_EQ(elsewhere({{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}}), "");
  EXPECT_EQ(elsewhere({{"SLURM_JOB_NUM_NODES", "1"}}), "");
}

TEST(Job, HasRanksElsewhere) {
  for (const auto& [all, here] :
       {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
        std::pair{"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
        std::pair{"PMI_SIZE", "MPI_LOCALNRANKS"}, std::pair{"PMI_SIZE", "PMI_LOCAL_SIZE"}})
    EXPECT_EQ(elsewhere({{all, "64"}, {here, "16"}}),
              "16 of the 64 ranks of the job are on this host")
        << here;
}

TEST(Job, HasSeveralHosts) {
  for (const char* const name :
       {"SLURM_STEP_NUM_NODES", "FLUX_JOB_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
    EXPECT_EQ(elsewhere({{name, "4"}}), "the job has 4 hosts") << name;
}

// An allocation may be larger than what runs in it.
TEST(Job, IsWhatTheInnermostLauncherSays) {
  EXPECT_EQ(elsewhere({{"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_JOB_NUM_NODES", "4"}}), "");
  EXPECT_EQ(elsewhere({{"PMI_SIZE", "8"}, {"PMI_LOCAL_SIZE", "8"}, {"SLURM_JOB_NUM_NODES", "4"}}),
            "");
}

TEST(Job, IsSpokenOfByItsFirstRankOnly) {
  std::map<std::string, std::string> variables{{"OMPI_COMM_WORLD_SIZE", "4"},
                                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                               {"OMPI_COMM_WORLD_RANK", "0"},
                                               {"SLURM_PROCID", "1"}};
  EXPECT_NE(elsewhere(variables), "");
  EXPECT_EQ(rank_in_job([&](const char* name) {
              return variables.contains(name) ? variables[name].c_str() : nullptr;
            }),
            "0");
  variables["OMPI_COMM_WORLD_RANK"] = "3";
  EXPECT_EQ(elsewhere(variables), "");
}

TEST(Job, IsNotGuessedFromWhatIsNoNumber) {
  for (const char* const count : {"", "0", "-2", "2x", "99999999999"})
    EXPECT_EQ(elsewhere({{"SLURM_NNODES", count}}), "") << count;
  EXPECT_EQ(elsewhere({{"PMI_SIZE", "8"}}), "");
}

}  // namespace
}  // namespace pcp::trace::command
