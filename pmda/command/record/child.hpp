// SPDX-License-Identifier: LGPL-2.1-or-later
// The program that is recorded: a child of this process and in its process group, so that the
// terminal is its own. This process waits for its end, stops as long as it is stopped, as a shell
// expects, and hands on the signals that others send to us alone; what they send to the whole group
// the child has. Its orphans are ours.
//
// Thread: the main one. One at a time, and before there are other threads: they would not have the
// signals blocked.
#pragma once

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/engine/descriptor.hpp"
#include "collector/engine/types.hpp"
#include "command/record/group_witness.hpp"

namespace pcp::trace::command {

// What differs from our own environment; without a value: not in it.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

class Child {
 public:
  Child();
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Runs a command, found as a shell finds it. Gives 0 or the errno of why it cannot be executed.
  // Requires: there are words, and it was not called before.
  int start(const std::vector<std::string>& words, const EnvironmentChanges& changes);

  // What a shell's exit status would be for such an errno.
  static int status_of_failed_start(int error);

  // Waits for the end, but only until then. Tells whether it has ended.
  bool wait_until(agent::Time until);

  // Waits until then, or until a signal tells us to end: then true. Requires: it has ended.
  bool is_interrupted_before(agent::Time until);

  // Whether any process that it has started, or that those have, is still there.
  bool has_descendants();

  // As a shell gives it: 128 and the signal's number if one has ended it. Requires: it has ended.
  int exit_status() const { return *exit_status_; }

  // Whether a signal has ended an orphan, of which nobody else hears.
  bool has_lost_orphans() const { return has_lost_orphans_; }

 private:
  signalfd_siginfo next_signal(agent::Time until);
  void hand_on_early_signals();
  void act_on(const signalfd_siginfo& signal);
  bool take_changes();
  void end_with(int status);
  void stop_by(int signal);
  void forget_signals();

  // Blocked, to be read: SIGCHLD, and those that are handed on.
  agent::Descriptor changes_;
  agent::Descriptor signals_;
  std::optional<GroupWitness> witness_;  // as long as there is a program to hand on to
  // What the child is to begin with, as we did.
  sigset_t blocked_before_{};
  void (*on_large_file_before_)(int) = nullptr;
  rlimit descriptors_before_{};
  std::vector<std::string> environment_;

  pid_t pid_ = -1;
  std::optional<int> exit_status_;
  bool has_lost_orphans_ = false;
};

}  // namespace pcp::trace::command
