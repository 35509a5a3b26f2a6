// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/main_loop.hpp"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/log.hpp"
#include "base/clock.hpp"
#include "collector/ingest/process_state.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};

constexpr Duration kShortestWait = std::chrono::milliseconds(10);

volatile sig_atomic_t ended = 0;  // the signal's number
volatile sig_atomic_t hung_up = 0;

// Runs only inside ppoll().
void note(int number) {
  if (number == SIGHUP) {
    hung_up = 1;
  } else {
    ended = number;
  }
}

void watch(int seconds) {
  for (int left = seconds; left > 0; left = is_another_thread_busy() ? seconds : left - 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  _exit(EXIT_FAILURE);
}

}  // namespace

MainLoop::MainLoop() {
  struct sigaction action {};
  action.sa_handler = note;
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : kSignals) {
    sigaddset(&ours, number);
    sigaction(number, &action, nullptr);
  }
  pthread_sigmask(SIG_BLOCK, &ours, &unblocked_);
  for (const int number : kSignals) sigdelset(&unblocked_, number);

  signal(SIGPIPE, SIG_IGN);  // pmcd's end is noticed when reading
}

void MainLoop::run(Bridge& bridge, const std::function<void()>& after_request,
                   const std::function<void()>& on_hangup,
                   const std::function<std::optional<Duration>()>& look) {
  pollfd pmcd{bridge.descriptor(), POLLIN, 0};
  for (;;) {
    timespec pause{};
    const std::optional<Duration> wait = look();
    if (wait) pause = to_timespec(std::max(*wait, kShortestWait));
    const int ready = ppoll(&pmcd, 1, wait ? &pause : nullptr, &unblocked_);
    if (ended != 0) {
      log_info(std::string("ended by SIG") + sigabbrev_np(ended));
      return;
    }
    if (std::exchange(hung_up, 0) != 0) on_hangup();
    if (ready <= 0) continue;  // a signal came, or look() is due
    if (!bridge.serve_one()) return;
    after_request();
  }
}

// A thread, because the main thread could not handle a signal while it waits for a disk.
void end_when_stuck(int seconds) {
  try {
    std::thread(watch, seconds).detach();
  } catch (const std::system_error&) {
    alarm(static_cast<unsigned>(seconds));  // kills a busy process, too: better than never ending
  }
}

}  // namespace pcp::trace::agent
