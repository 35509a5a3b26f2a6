// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/interruption.hpp"

#include <pthread.h>

#include <algorithm>

#include "collector/engine/clock.hpp"

namespace pcp::trace::command {

Interruption::Interruption() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &blocked_before_);
}

Interruption::~Interruption() { pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr); }

bool Interruption::comes_before(agent::Time until) {
  while (!has_come_) {
    const agent::Time left = until - agent::steady_now();
    if (left <= agent::Time::zero()) break;
    const timespec timeout = agent::to_timespec(left);
    has_come_ = ::sigtimedwait(&signals_, nullptr, &timeout) > 0;
  }
  return has_come_;
}

}  // namespace pcp::trace::command
