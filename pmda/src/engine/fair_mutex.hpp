// A mutex that serves in order of arrival. The ingest thread holds the engine for a slice at a time
// and comes back at once; with std::mutex it would mostly win that race, and a fetch could starve
// under load. Here whoever waits is next, so it waits for one slice at most.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace pcp::trace::agent {

class FairMutex {
 public:
  void lock() {
    std::unique_lock guard(guard_);
    const std::uint64_t ticket = arrived_++;
    turn_.wait(guard, [&] { return ticket == served_; });
  }

  void unlock() {
    {
      std::lock_guard guard(guard_);
      ++served_;
    }
    turn_.notify_all();
  }

 private:
  std::mutex guard_;  // of the two tickets, for moments only
  std::condition_variable turn_;
  std::uint64_t arrived_ = 0;
  std::uint64_t served_ = 0;
};

}  // namespace pcp::trace::agent
