// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include "agent/main_loop.hpp"
#include "base/clock.hpp"

namespace pcp::trace::agent {
namespace {

constexpr int kSeconds = 2;

// Gives the exit status of a process that does this work.
template <typename Work>
int status_after(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    end_when_stuck(kSeconds);
    work();
    _exit(EXIT_SUCCESS);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Takes longer on a busy machine.
void compute_for(int seconds) {
  while (thread_cpu_ns() < std::uint64_t{1'000'000'000} * static_cast<std::uint64_t>(seconds)) {
  }
}

void wait_for_ever() {
  for (;;) pause();
}

TEST(EndWhenStuck, EndsWhoeverWaits) { EXPECT_EQ(status_after(wait_for_ever), EXIT_FAILURE); }

TEST(EndWhenStuck, LetsWhoeverComputesGoOn) {
  EXPECT_EQ(status_after([] { compute_for(2 * kSeconds); }), EXIT_SUCCESS);
}

TEST(EndWhenStuck, EndsWhoeverHasComputedAndWaits) {
  EXPECT_EQ(status_after([] {
              compute_for(kSeconds);
              wait_for_ever();
            }),
            EXIT_FAILURE);
}

}  // namespace
}  // namespace pcp::trace::agent
