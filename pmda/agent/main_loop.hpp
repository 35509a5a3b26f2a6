// SPDX-License-Identifier: LGPL-2.1-or-later
// The main thread's loop: requests of pmcd, and signals between them. SIGTERM and SIGINT end the
// loop, with a line in the log. The end of pmcd ends it, too. SIGHUP asks for the list of clients.
#pragma once

#include <signal.h>

#include <functional>
#include <optional>

#include "agent/bridge.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

class MainLoop {
 public:
  // Blocks the signals for the calling thread and the threads it starts. Once per process.
  MainLoop();

  // `after_request` is called after each answer to pmcd. `look` is called from time to time, and
  // returns the time until its next call; nothing: not before the next request.
  void run(Bridge& bridge, const std::function<void()>& after_request,
           const std::function<void()>& on_hangup,
           const std::function<std::optional<Duration>()>& look);

 private:
  sigset_t unblocked_;  // while waiting
};

}  // namespace pcp::trace::agent
