// SPDX-License-Identifier: LGPL-2.1-or-later
// The main thread's loop: requests of pmcd, and signals between them. SIGTERM and SIGINT end it,
// and the log says so; pmcd's leaving ends it too. SIGHUP asks for the list of clients.
#pragma once

#include <signal.h>

#include <functional>
#include <optional>

#include "agent/bridge.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

class MainLoop {
 public:
  // Blocks the signals for the calling thread and those it starts. Once in a process.
  MainLoop();

  // `after_request` is called when pmcd has its answer. `look` is called now and then, and gives
  // for how long it need not be; nothing: until the next request.
  void run(Bridge& bridge, const std::function<void()>& after_request,
           const std::function<void()>& on_hangup,
           const std::function<std::optional<Time>()>& look);

 private:
  sigset_t unblocked_;  // while waiting
};

}  // namespace pcp::trace::agent
