// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks up host names repeatedly until each has an address, on a thread that may wait for a name
// server.
//
// Thread: the one that starts and stops the server, with signals blocked. The look-up thread is
// never joined, because a look-up cannot be cancelled; it owns the data it uses.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "collector/ingest/access.hpp"

namespace pcp::trace::agent {

class HostFinder {
 public:
  // Called on the finder's thread, at most once per rule, and never after stop().
  using Found = std::function<void(const AccessList::Waiting&, const HostPatterns&)>;

  HostFinder() = default;
  ~HostFinder() { stop(); }
  HostFinder(const HostFinder&) = delete;
  HostFinder& operator=(const HostFinder&) = delete;

  void start(std::vector<AccessList::Waiting> names, LookUp look_up,
             std::chrono::milliseconds pause, Found found);

  // Does not wait for a running look-up.
  void stop();

 private:
  struct State;
  static void run(State& state);
  static bool rest(State& state);
  static bool try_one(State& state, const AccessList::Waiting& name);

  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this object
};

}  // namespace pcp::trace::agent
