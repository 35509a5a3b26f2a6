// SPDX-License-Identifier: LGPL-2.1-or-later
// ^C, and the other signals that ask a program to end, as something to wait for.
//
// Thread: the main one. One at a time, and before there are other threads.
#pragma once

#include <csignal>

#include "collector/engine/types.hpp"

namespace pcp::trace::command {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Waits until then, or until it comes; once it has come, it does not wait any more.
  bool comes_before(agent::Time until);

  bool has_come() const { return has_come_; }

 private:
  sigset_t signals_{};
  sigset_t blocked_before_{};
  bool has_come_ = false;
};

}  // namespace pcp::trace::command
