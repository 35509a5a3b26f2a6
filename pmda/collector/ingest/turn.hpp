// SPDX-License-Identifier: LGPL-2.1-or-later
// The ingest thread's way to what it shares with the main thread. A turn locks the mutex when it is
// first used and lets the main thread in when that wants it, so long work needs no more thought
// than asking it for the engine at each step. Never keep a turn over I/O: end it.
#pragma once

#include <cstdint>
#include <map>

#include "collector/engine/clock.hpp"
#include "collector/shared.hpp"

namespace pcp::trace::agent {

class Turn {
 public:
  explicit Turn(Shared& shared, Time (*clock)() = steady_now) : shared_(shared), clock_(clock) {}
  ~Turn() { end(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Each gives what is shared, locked. What was looked at before the call may have changed.
  Engine& engine() {
    lock();
    return shared_.engine;
  }
  std::map<std::uint64_t, ClientView>& clients() {
    lock();
    return shared_.clients;
  }

  // When the mutex was locked: precise enough for the engine, since one turn takes no more than one
  // read has brought. Requires: locked.
  Time now() const { return began_; }

  void end() TRACE_UNCHECKED {
    if (locked_) shared_.mutex.unlock();
    locked_ = false;
  }

 private:
  void lock() TRACE_ENSURES(shared_.mutex) {
    if (locked_ && shared_.mutex.wanted()) end();
    if (!locked_) begin();
  }

  void begin() TRACE_UNCHECKED {
    shared_.mutex.lock_courteously();
    locked_ = true;
    began_ = clock_();
  }

  Shared& shared_;
  Time (*clock_)();
  bool locked_ = false;
  Time began_{};
};

}  // namespace pcp::trace::agent
