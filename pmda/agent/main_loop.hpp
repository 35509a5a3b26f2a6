// SPDX-License-Identifier: LGPL-2.1-or-later
// The main thread's loop: requests of pmcd, and signals between them. SIGTERM and SIGINT end it,
// and the log says so; pmcd's leaving ends it too. SIGHUP asks for the list of clients.
#pragma once

#include <signal.h>

#include <functional>

#include "agent/bridge.hpp"

namespace pcp::trace::agent {

class MainLoop {
 public:
  // Blocks the signals for the calling thread and those it starts. Once in a process.
  MainLoop();

  // `after_request` is called when pmcd has its answer.
  void run(Bridge& bridge, const std::function<void()>& after_request,
           const std::function<void()>& on_hangup);

 private:
  sigset_t unblocked_;  // while waiting
};

}  // namespace pcp::trace::agent
