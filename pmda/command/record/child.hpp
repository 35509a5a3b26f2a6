// SPDX-License-Identifier: LGPL-2.1-or-later
// The recorded program: a child in this process's group, so that it can use the terminal. This
// process waits for its end, and stops while it is stopped, as shells expect. Signals to this
// process alone are handed on; signals to the whole group reach the child anyway. This process
// adopts the child's orphans.
//
// Thread: the main one. Only one at a time, made before other threads, which must inherit the
// blocked signals.
#pragma once

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "collector/engine/types.hpp"
#include "command/record/group_witness.hpp"

namespace pcp::trace::command {

// Differences from our own environment; without a value: removed.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

class Child {
 public:
  Child();
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Runs a command, found like a shell does. Returns 0, or the errno of a failed exec(). Requires:
  // there are words, and this is the first call.
  int start(const std::vector<std::string>& words, const EnvironmentChanges& changes);

  // A shell's exit status for this errno.
  static int status_of_failed_start(int error);

  // Waits for the end, until a time. True if the child has ended.
  bool wait_until(Instant until);

  // Waits until a time or a signal to end; true after a signal. Requires: the child has ended.
  bool is_interrupted_before(Instant until);

  // True if any descendant of the child still runs.
  bool has_descendants();

  // As in a shell: 128 plus the signal's number after a signal. Requires: the child has ended.
  int exit_status() const;

  // The signal that ended the child. 0: it exited, whatever its status: a shell exits with 128 plus
  // the number of a signal that ended its own child. Requires: the child has ended.
  int ending_signal() const;

  // True if a signal ended an orphan. Nobody else sees its status.
  bool has_lost_orphans() const { return has_lost_orphans_; }

 private:
  signalfd_siginfo next_signal(Instant until);
  void hand_on_early_signals();
  void act_on(const signalfd_siginfo& signal);
  void hand_on(int signal, pid_t sender);
  bool take_changes();
  void note_end(int status);
  void stop_by(int signal);
  void forget_signals();

  // Blocked and read: SIGCHLD, and the signals to hand on.
  Descriptor changes_;
  Descriptor signals_;
  std::optional<GroupWitness> witness_;  // as long as the program runs
  // The state before us, for the child.
  sigset_t blocked_before_{};
  void (*on_large_file_before_)(int) = nullptr;
  void (*on_pipe_before_)(int) = nullptr;
  rlimit descriptors_before_{};
  std::vector<std::string> environment_;

  pid_t pid_ = -1;
  std::optional<int> status_;  // from waitpid(), once the child has ended
  bool has_lost_orphans_ = false;
};

}  // namespace pcp::trace::command
