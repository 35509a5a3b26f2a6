// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/process_state.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

TEST(ProcessState, TellsWhetherAProcessHasEndedAndIsADescendant) {
  EXPECT_FALSE(has_ended(static_cast<std::uint32_t>(::getpid())));
  std::array<int, 2> gate{};
  ASSERT_EQ(::pipe(gate.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char any = 0;
    ::prctl(PR_SET_NAME, ") Z (");
    ::close(gate[1]);
    ::_exit(static_cast<int>(::read(gate[0], &any, 1)));
  }
  const auto pid = static_cast<std::uint32_t>(child);
  EXPECT_FALSE(has_ended(pid));
  EXPECT_EQ(is_descendant(pid, ::geteuid()), true);
  EXPECT_EQ(is_descendant(static_cast<std::uint32_t>(::getppid()), ::geteuid()), false);
  ::close(gate[0]);
  ::close(gate[1]);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(has_ended(pid));  // a zombie: nobody has waited for it
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(has_ended(pid));
  EXPECT_EQ(is_descendant(pid, ::geteuid()), std::nullopt);
}

}  // namespace
}  // namespace pcp::trace::agent
