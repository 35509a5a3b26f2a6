// SPDX-License-Identifier: LGPL-2.1-or-later
// The main thread's loop: requests of pmcd, and signals between them. SIGTERM and SIGINT end the
// loop, with a line in the log. The end of pmcd ends it, too. SIGHUP asks for the list of clients.
#pragma once

#include <signal.h>

#include <functional>
#include <optional>

#include "agent/bridge.hpp"
#include "collector/ingest_counters.hpp"

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

// Ends the process even if a disk hangs. From now on the process exits with status 1 once all its
// threads have been seen waiting for this many seconds in a row. A computing thread restarts the
// count: a busy machine is no hanging disk. The watching thread lives as long as the process.
void end_when_stuck(int seconds);

}  // namespace pcp::trace::agent
