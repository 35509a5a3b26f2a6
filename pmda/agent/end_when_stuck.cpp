// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/end_when_stuck.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "collector/ingest/process_state.hpp"

namespace pcp::trace::agent {

namespace {

void watch(int seconds) {
  for (int left = seconds; left > 0; left = others_compute() ? seconds : left - 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  _exit(EXIT_FAILURE);
}

}  // namespace

// A thread, because the main thread could not handle a signal while it waits for a disk.
void end_when_stuck(int seconds) {
  try {
    std::thread(watch, seconds).detach();
  } catch (const std::system_error&) {
    alarm(static_cast<unsigned>(seconds));  // kills a busy process, too: better than never ending
  }
}

}  // namespace pcp::trace::agent
