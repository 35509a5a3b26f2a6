// SPDX-License-Identifier: LGPL-2.1-or-later
// An idle process in our process group. It gets the signals that a terminal or timeout(1) sends to
// the whole group, but not those sent to us alone; the kernel does not tell us the difference. The
// witness also wakes us after we stopped.
//
// Thread: one, and before there are others.
#pragma once

#include <sys/types.h>

#include "base/descriptor.hpp"

namespace pcp::trace::command {

class GroupWitness {
 public:
  GroupWitness();  // throws std::system_error if fork() fails
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // True if the witness also got this signal from the same sender, since the last question.
  bool has_got(int signal, pid_t sender);

  // Until stay_awake(), the witness continues this process when `program` is not stopped.
  void watch(pid_t program);
  void stay_awake() { watch(0); }

  pid_t pid() const { return pid_; }

 private:
  bool get_answer();

  Descriptor socket_;
  pid_t pid_ = -1;
};

}  // namespace pcp::trace::command
