// SPDX-License-Identifier: LGPL-2.1-or-later
// ^C, and the other signals that ask a program to end, as something to wait for.
//
// Thread: the main one. One at a time, and before there are other threads.
#pragma once

#include <csignal>

#include "collector/engine/descriptor.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::command {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // It comes at this time, too, without a signal.
  void come_at(agent::Time end) { end_ = end; }

  // Waits until then, until it comes, or until something can be read here; once it has come, it
  // does not wait any more.
  bool comes_before(agent::Time until, int descriptor = -1);

  bool has_come() const { return has_come_; }

 private:
  sigset_t blocked_before_{};
  agent::Descriptor signals_;  // to be read
  agent::Time end_ = agent::Time::max();
  bool has_come_ = false;
};

}  // namespace pcp::trace::command
