// SPDX-License-Identifier: LGPL-2.1-or-later
// One schedule of faults: an agent, some clients, the network between them, and the judge.
#pragma once

#include <cstdint>
#include <utility>

namespace pcp::trace::chaos {

// Sums over all schedules.
struct Figures {
  std::uint64_t clients = 0;
  std::uint64_t forked = 0;
  std::uint64_t died = 0;       // clients that ended during their work, or executed another program
  std::uint64_t impatient = 0;  // clients that may give up at their end
  std::uint64_t gave_up = 0;    // impatient clients that lost something
  std::uint64_t calls = 0;
  std::uint64_t connections = 0;
  std::uint64_t faults = 0;
  std::uint64_t resent = 0;    // batches and EVENTS, by clients
  std::uint64_t replayed = 0;  // the same by the network
  std::uint64_t answers_lost = 0;
  std::uint64_t duplicates = 0;  // batches that the agents recognised
  std::uint64_t restarts = 0;
  std::uint64_t captured = 0;  // captured transactions
  std::uint64_t seen = 0;      // captured transactions that the permanent monitor has seen
  std::uint64_t missed = 0;    // losses reported to it, or to a slow monitor
  std::uint64_t whole = 0;     // seen by those that want whole requests
  std::uint64_t monitors = 0;  // monitors that came and went
  std::uint64_t pauses = 0;    // of the agent
  std::uint64_t longest_call_ns = 0;
  std::uint64_t longest_wait_ns = 0;  // of a call that gave up its CPU

  // All except the longest times.
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
      {"whole", &Figures::whole},
      {"monitors", &Figures::monitors},
      {"pauses", &Figures::pauses}};

  void add(const Figures& other);
};

// Runs the schedule of this seed. Gives whether all was exact; prints errors on standard error.
// `is_watched`: monitors capture meanwhile. Requires: a process without threads.
bool run_schedule(std::uint64_t seed, bool is_watched, Figures& figures);

}  // namespace pcp::trace::chaos
