// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks names of hosts up again and again until each has an address, on a thread that may wait for
// a name server as long as that takes.
//
// Thread: the one that starts and stops the server, with signals blocked. The look-up thread is
// never joined, since nobody can end a look-up; it owns what it uses.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "collector/ingest/access.hpp"

namespace pcp::trace::agent {

class HostFinder {
 public:
  // Called on the finder's thread, once for each rule at most, and never after stop().
  using Found = std::function<void(const AccessList::Waiting&, const HostPatterns&)>;

  HostFinder() = default;
  ~HostFinder() { stop(); }
  HostFinder(const HostFinder&) = delete;
  HostFinder& operator=(const HostFinder&) = delete;

  void start(std::vector<AccessList::Waiting> names, LookUp look_up,
             std::chrono::milliseconds pause, Found found);

  // Does not wait for a look-up that is under way.
  void stop();

 private:
  struct State;
  static void run(State& state);
  static bool rest(State& state);
  static bool try_one(State& state, const AccessList::Waiting& name);

  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this
};

}  // namespace pcp::trace::agent
