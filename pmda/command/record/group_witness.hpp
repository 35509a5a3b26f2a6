// SPDX-License-Identifier: LGPL-2.1-or-later
// A process in our process group that only waits. It gets each signal that a terminal or timeout(1)
// sends to the whole group, and none that is sent to us alone; the kernel does not tell us which of
// the two a signal was. While we are stopped, this process also wakes us.
//
// Thread: one, and before there are others.
#pragma once

#include <sys/types.h>

#include "collector/engine/descriptor.hpp"

namespace pcp::trace::command {

class GroupWitness {
 public:
  GroupWitness();  // std::system_error if no process is to be had
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Whether it has got this signal from the same sender, too, since it was asked last.
  bool has_got(int signal, pid_t sender);

  // As long as nobody says that it is awake, it wakes this process once `program` is not stopped.
  void watch(pid_t program);
  void stay_awake() { watch(0); }

  pid_t pid() const { return pid_; }

 private:
  agent::Descriptor socket_;
  pid_t pid_ = -1;
};

}  // namespace pcp::trace::command
