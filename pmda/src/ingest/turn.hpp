// The ingest thread's way to what it shares with the main thread. A turn locks the mutex when it is
// first used and lets others in when it has had it for half a millisecond, so long work needs no
// more thought than calling shared() at each step. Never keep a turn over I/O: end it.
#pragma once

#include <chrono>
#include <mutex>

#include "engine/shared.hpp"

namespace pcp::trace::agent {

// The clock that the engine's times are read from.
inline Time steady_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

class Turn {
 public:
  explicit Turn(Shared& shared) : shared_(shared), lock_(shared.mutex, std::defer_lock) {}

  // Gives what is shared, locked. What was looked at before the call may have changed.
  Shared& shared() {
    if (lock_.owns_lock() && ++steps_ % kStepsBetweenLooks == 0 && steady_now() - began_ > kLongest)
      lock_.unlock();
    if (!lock_.owns_lock()) {
      lock_.lock();
      began_ = steady_now();
    }
    return shared_;
  }

  // When the mutex was locked: precise enough for the engine. Requires: locked.
  Time now() const { return began_; }

  void end() {
    if (lock_.owns_lock()) lock_.unlock();
  }

 private:
  static constexpr Time kLongest = std::chrono::microseconds(500);
  static constexpr unsigned kStepsBetweenLooks = 8;

  Shared& shared_;
  std::unique_lock<FairMutex> lock_;
  Time began_{};
  unsigned steps_ = 0;
};

}  // namespace pcp::trace::agent
