// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/end_when_stuck.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "collector/engine/clock.hpp"

namespace pcp::trace::agent {

namespace {

// In a second; whoever waits takes less, whoever computes more.
constexpr std::uint64_t kNextToNothingNs = 10'000'000;

// Thread: the main one, which the kernel prefers for a signal to the process.
int patience = 0;                   // idle seconds that are left, and
int full_patience = 0;              // at first
std::uint64_t computed_before = 0;  // what the process had computed a second ago

void look(int /*signal*/) {
  const std::uint64_t now = process_cpu_ns();
  const bool idle = now - computed_before < kNextToNothingNs;
  computed_before = now;
  patience = idle ? patience - 1 : full_patience;
  if (patience == 0) _exit(EXIT_FAILURE);
}

}  // namespace

void end_when_stuck(int seconds) {
  patience = full_patience = seconds;
  computed_before = process_cpu_ns();
  struct sigaction each {};
  each.sa_handler = look;
  each.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &each, nullptr);
  const itimerval every_second{{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &every_second, nullptr);
}

}  // namespace pcp::trace::agent
