// SPDX-License-Identifier: LGPL-2.1-or-later
// One schedule of faults: an agent, a handful of clients, the network between them, and the judge.
#pragma once

#include <cstdint>

namespace pcp::trace::chaos {

// What all schedules together have gone through.
struct Figures {
  std::uint64_t clients = 0;
  std::uint64_t forked = 0;
  std::uint64_t died = 0;     // clients that ended in the middle of their work, or executed another
  std::uint64_t gave_up = 0;  // clients that lost something at an end as long as the library waits
  std::uint64_t calls = 0;
  std::uint64_t connections = 0;
  std::uint64_t faults = 0;
  std::uint64_t resent = 0;
  std::uint64_t replayed = 0;
  std::uint64_t answers_lost = 0;
  std::uint64_t duplicates = 0;  // batches that the agents recognised
  std::uint64_t restarts = 0;
  std::uint64_t captured = 0;  // transactions that somebody has asked to see
  std::uint64_t seen = 0;      // of these, by a monitor that was always there
  std::uint64_t missed = 0;    // that it or a slow one was told it missed
  std::uint64_t monitors = 0;  // others, which came and went
  std::uint64_t pauses = 0;    // of the agent
  std::uint64_t longest_call_ns = 0;
  std::uint64_t longest_wait_ns = 0;  // of a call that may have waited for something

  void add(const Figures& other);
};

// Runs the schedule of this seed, and gives whether all was exact; says on standard error what was
// not. Requires: a process without threads.
// `is_watched`: while monitors look at single transactions.
bool run_schedule(std::uint64_t seed, bool is_watched, Figures& figures);

}  // namespace pcp::trace::chaos
