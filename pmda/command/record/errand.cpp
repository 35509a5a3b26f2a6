// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/errand.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/descriptor.hpp"

namespace pcp::trace::command {

bool has_been_done(std::function<void()> work, Interruption& interruption) {
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
  interruption.comes_before(Instant::max(), read_end.get());
  return end.wait_for(kASecondMore) == std::future_status::ready;
}

}  // namespace pcp::trace::command
