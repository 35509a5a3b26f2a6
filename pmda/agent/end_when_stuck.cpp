// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/end_when_stuck.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "collector/ingest/process_state.hpp"

namespace pcp::trace::agent {

namespace {

// Whether any other thread has a processor, or would have one if the machine were less busy.
bool others_compute() {
  const std::string own = std::to_string(gettid());
  try {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
      if (thread.path().filename() != own && state_in(thread.path() / "stat") == 'R') return true;
  } catch (const std::exception&) {  // no memory, or no /proc
  }
  return false;
}

void watch(int seconds) {
  for (int left = seconds; left > 0; left = others_compute() ? seconds : left - 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  _exit(EXIT_FAILURE);
}

}  // namespace

// A thread, because a signal would wait with the main thread for a disk.
void end_when_stuck(int seconds) {
  try {
    std::thread(watch, seconds).detach();
  } catch (const std::system_error&) {
    alarm(static_cast<unsigned>(seconds));  // whatever it does then: rather that than never
  }
}

}  // namespace pcp::trace::agent
