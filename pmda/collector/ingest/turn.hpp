// SPDX-License-Identifier: LGPL-2.1-or-later
// The ingest thread's access to the data it shares with the main thread. A turn locks the mutex on
// first use. Each later use lets the main thread in if it waits, so long work only needs to call
// engine() at each step. Never hold a turn during I/O: end it.
#pragma once

#include <cstdint>
#include <map>

#include "base/clock.hpp"
#include "collector/shared.hpp"

namespace pcp::trace::agent {

class Turn {
 public:
  explicit Turn(Shared& shared, Instant (*clock)() = steady_now) : shared_(shared), clock_(clock) {}
  ~Turn() { end(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Each call locks, and returns the shared object. Data from before the call may be outdated.
  Engine& engine() TRACE_UNCHECKED {
    lock();
    return shared_.engine;
  }
  std::map<std::uint64_t, ClientView>& clients() TRACE_UNCHECKED {
    lock();
    return shared_.clients;
  }

  // The time of locking: precise enough for the engine, because a turn handles at most one read's
  // data. Requires: locked.
  Instant now() const { return began_; }

  void end() TRACE_UNCHECKED {
    if (locked_) shared_.mutex.unlock();
    locked_ = false;
  }

 private:
  void lock() {
    if (locked_ && shared_.mutex.is_wanted()) end();
    if (!locked_) begin();
  }

  void begin() TRACE_UNCHECKED {
    shared_.mutex.lock_courteously();
    locked_ = true;
    began_ = clock_();
  }

  Shared& shared_;
  Instant (*clock_)();
  bool locked_ = false;
  Instant began_{};
};

}  // namespace pcp::trace::agent
