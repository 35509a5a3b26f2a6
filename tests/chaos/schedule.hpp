// SPDX-License-Identifier: LGPL-2.1-or-later
// One schedule of faults: an agent, a handful of clients, the network between them, and the judge.
#pragma once

#include <cstdint>
#include <utility>

namespace pcp::trace::chaos {

// What all schedules together have gone through.
struct Figures {
  std::uint64_t clients = 0;
  std::uint64_t forked = 0;
  std::uint64_t died = 0;  // clients that ended in the middle of their work, or executed another
  std::uint64_t impatient = 0;  // clients that may give up at their end
  std::uint64_t gave_up = 0;    // of these, those that lost something
  std::uint64_t calls = 0;
  std::uint64_t connections = 0;
  std::uint64_t faults = 0;
  std::uint64_t resent = 0;    // batches, by clients
  std::uint64_t replayed = 0;  // the same by the network
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

  // All but the longest.
  static constexpr std::pair<const char*, std::uint64_t Figures::*> kSums[] = {
      {"clients", &Figures::clients},
      {"forked", &Figures::forked},
      {"died", &Figures::died},
      {"impatient", &Figures::impatient},
      {"gave_up", &Figures::gave_up},
      {"calls", &Figures::calls},
      {"connections", &Figures::connections},
      {"faults", &Figures::faults},
      {"resent", &Figures::resent},
      {"replayed", &Figures::replayed},
      {"answers_lost", &Figures::answers_lost},
      {"duplicates", &Figures::duplicates},
      {"restarts", &Figures::restarts},
      {"captured", &Figures::captured},
      {"seen", &Figures::seen},
      {"missed", &Figures::missed},
      {"monitors", &Figures::monitors},
      {"pauses", &Figures::pauses}};

  void add(const Figures& other);
};

// Runs the schedule of this seed, and gives whether all was exact; says on standard error what was
// not. Requires: a process without threads.
// `is_watched`: while monitors look at single transactions.
bool run_schedule(std::uint64_t seed, bool is_watched, Figures& figures);

}  // namespace pcp::trace::chaos
