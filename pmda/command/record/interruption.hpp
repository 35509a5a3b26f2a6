// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for ^C and the other signals that ask a program to end.
//
// Thread: the main one. Only one at a time, made before other threads.
#pragma once

#include <csignal>

#include "base/descriptor.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::command {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Sets a time that also counts as an interruption.
  void come_at(Instant end) { end_ = end; }

  // Waits until a time, the interruption, or readable input; not at all after the interruption.
  // True if the interruption has come.
  bool comes_before(Instant until, int descriptor = -1);

  bool has_come() const { return has_come_; }

 private:
  sigset_t blocked_before_{};
  Descriptor signals_;  // a signalfd
  Instant end_ = Instant::max();
  bool has_come_ = false;
};

}  // namespace pcp::trace::command
