// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/interruption.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace pcp::trace::command {

Interruption::Interruption() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, &blocked_before_);
  signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw std::system_error(errno, std::generic_category(), "signalfd");
}

Interruption::~Interruption() { pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr); }

bool Interruption::comes_before(Instant until, std::initializer_list<int> inputs) {
  std::vector<pollfd> all{{signals_.get(), POLLIN, 0}};
  for (const int each : inputs) all.push_back({each, POLLIN, 0});
  while (!has_come_) {
    const Instant now = steady_now();
    has_come_ = now >= end_;
    if (has_come_ || now >= until) break;
    const timespec timeout = to_timespec(std::min(until, end_) - now);
    if (::ppoll(all.data(), all.size(), &timeout, nullptr) <= 0) continue;
    signalfd_siginfo signal{};
    has_come_ = ::read(signals_.get(), &signal, sizeof signal) == sizeof signal;
    if (std::any_of(all.begin() + 1, all.end(), [](auto& each) { return each.revents != 0; }))
      break;
  }
  return has_come_;
}

bool Interruption::ends(std::function<void()> work) {
  constexpr std::chrono::seconds kASecondMore(1);
  const auto task = std::make_shared<std::packaged_task<void()>>(std::move(work));
  const std::future<void> end = task->get_future();
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends.fill(-1);
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  try {
    if (!read_end) throw std::system_error(errno, std::generic_category(), "pipe");
    std::thread([task, write_end = std::move(write_end)]() mutable {
      (*task)();
      write_end.reset();  // wakes the waiting thread
    }).detach();
  } catch (const std::system_error&) {
    (*task)();  // then ^C must wait
    return true;
  }
  comes_before(Instant::max(), {read_end.get()});
  return end.wait_for(kASecondMore) == std::future_status::ready;
}

}  // namespace pcp::trace::command
