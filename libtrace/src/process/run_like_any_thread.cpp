// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/run_like_any_thread.hpp"

#include <sched.h>

namespace pcp::trace::client {
namespace {

// Written before main, or while the library is loaded; then only read.
cpu_set_t processors_at_load;
bool are_processors_known = false;

[[gnu::constructor(101)]] void note_processors() {
  are_processors_known =
      ::sched_getaffinity(0, sizeof processors_at_load, &processors_at_load) == 0;
}

}  // namespace

void run_like_any_thread() {
  const sched_param no_priority{};
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy == SCHED_FIFO || policy == SCHED_RR)
    ::sched_setscheduler(0, SCHED_OTHER, &no_priority);
  if (are_processors_known) ::sched_setaffinity(0, sizeof processors_at_load, &processors_at_load);
}

}  // namespace pcp::trace::client
