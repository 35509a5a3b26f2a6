// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/clock.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::array kJobControl{SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};
constexpr std::array kHandedOn{SIGINT,   SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                               SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};

// Two equal signals within this time count as one, as for a stopped process: timeout(1) sends to
// its child, and then to the child's group.
constexpr int kMomentMs = 10;

template <std::size_t N>
sigset_t set_of(const std::array<int, N>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

Descriptor to_be_read(const sigset_t& signals) {
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Descriptor descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor) throw std::system_error(errno, std::generic_category(), "signalfd");
  return descriptor;
}

// Strings with the array of pointers for exec().
class Strings {
 public:
  explicit Strings(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (std::string& each : strings_) pointers_.push_back(each.data());
    pointers_.push_back(nullptr);
  }
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> strings_;
  std::vector<char*> pointers_;
};

std::vector<std::string> present_environment() {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) all.emplace_back(*each);
  return all;
}

std::vector<std::string> changed(const std::vector<std::string>& environment,
                                 const EnvironmentChanges& changes) {
  std::vector<std::string> result;
  for (const std::string& variable : environment)
    if (!changes.contains(variable.substr(0, variable.find('=')))) result.push_back(variable);
  for (const auto& [name, value] : changes)
    if (value) result.push_back(name + '=' + *value);
  return result;
}

}  // namespace

// Saves what the child must start with: PCP's library adds all of /etc/pcp.conf to our environment,
// and a collector raises the limit of descriptors.
Child::Child() : environment_(present_environment()) {
  ::getrlimit(RLIMIT_NOFILE, &descriptors_before_);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked_before_);
  changes_ = to_be_read(set_of(std::array{SIGCHLD}));
  signals_ = to_be_read(set_of(kHandedOn));
  witness_.emplace();
  std::signal(SIGCHLD, SIG_DFL);                          // if ignored, wait() would give no status
  on_large_file_before_ = std::signal(SIGXFSZ, SIG_IGN);  // write() reports a file's size limit
  on_pipe_before_ = std::signal(SIGPIPE, SIG_IGN);  // PCP's library does so, too, for a lost pmcd
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Child::~Child() {
  forget_signals();  // a terminal's signal to the group must not end us now
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

int Child::start(const std::vector<std::string>& words, const EnvironmentChanges& changes) {
  const Strings arguments(words);
  const Strings environment(changed(environment_, changes));
  std::array<int, 2> ends{};  // the child writes its errno here; exec() closes it
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) return errno;
  if (pid_ == 0) {
    pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
    std::signal(SIGXFSZ, on_large_file_before_);
    std::signal(SIGPIPE, on_pipe_before_);
    ::setrlimit(RLIMIT_NOFILE, &descriptors_before_);
    // Called by a pointer: for coverage, the compiler flushes counts before direct calls of exec.
    // That allocates memory, and another thread may have held the allocator at the fork.
    auto* volatile const execute = &::execvpe;
    execute(arguments.get()[0], arguments.get(), environment.get());
    const int error = errno;
    const bool is_told = ::write(write_end.get(), &error, sizeof error) == sizeof error;
    ::_exit(is_told ? EXIT_SUCCESS : status_of_failed_start(error));
  }
  hand_on_early_signals();
  write_end.reset();
  int error = 0;
  while (::read(read_end.get(), &error, sizeof error) < 0 && errno == EINTR) continue;
  if (error != 0) ::waitpid(pid_, nullptr, 0);
  return error;
}

int Child::status_of_failed_start(int error) {
  constexpr int kNotFound = 127;
  constexpr int kNotExecutable = 126;
  return error == ENOENT ? kNotFound : kNotExecutable;
}

bool Child::wait_until(Instant until) {
  while (!status_) {
    const signalfd_siginfo signal = next_signal(until);
    if (signal.ssi_signo == 0) break;
    act_on(signal);
  }
  return status_.has_value();
}

int Child::exit_status() const {
  return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + ending_signal();
}

int Child::ending_signal() const { return WIFSIGNALED(*status_) ? WTERMSIG(*status_) : 0; }

bool Child::is_interrupted_before(Instant until) {
  constexpr std::array<std::uint32_t, 5> kEnough{0, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (;;) {
    const std::uint32_t signal = next_signal(until).ssi_signo;
    if (std::find(kEnough.begin(), kEnough.end(), signal) != kEnough.end()) return signal != 0;
  }
}

// Signal number 0 after a timeout.
signalfd_siginfo Child::next_signal(Instant until) {
  for (;;) {
    const Instant now = steady_now();
    const timespec timeout = to_timespec(std::max(until - now, Duration(0)));
    std::array<pollfd, 2> both{pollfd{changes_.get(), POLLIN, 0},
                               pollfd{signals_.get(), POLLIN, 0}};
    signalfd_siginfo signal{};
    if (::ppoll(both.data(), both.size(), &timeout, nullptr) > 0) {
      const bool has_changed = both[0].revents != 0 || ::poll(both.data(), 1, kMomentMs) > 0;
      const int descriptor = has_changed ? changes_.get() : signals_.get();
      if (::read(descriptor, &signal, sizeof signal) == sizeof signal) return signal;
    } else if (now >= until) {
      return signal;
    }
  }
}

// The child did not get earlier signals, not even those to the whole group.
void Child::hand_on_early_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    const int number = static_cast<int>(signal.ssi_signo);
    witness_->has_got(number, static_cast<pid_t>(signal.ssi_pid));
    ::kill(pid_, number);
  }
}

void Child::act_on(const signalfd_siginfo& signal) {
  if (signal.ssi_signo == SIGCHLD)
    take_changes();
  else
    hand_on(static_cast<int>(signal.ssi_signo), static_cast<pid_t>(signal.ssi_pid));
}

void Child::hand_on(int signal, pid_t sender) {
  const bool is_groups = witness_->has_got(signal, sender);
  const bool is_childs = is_groups && ::getpgid(pid_) == ::getpgrp();
  if (!is_childs && sender != witness_->pid()) ::kill(pid_, signal);
  if (!is_groups) return;
  // An equal signal that came before the witness answered may have merged there with the first one.
  siginfo_t next{};
  const sigset_t equal = set_of(std::array{signal});
  const timespec at_once{};
  if (::sigtimedwait(&equal, &next, &at_once) != signal) return;
  if (next.si_pid != sender) return hand_on(signal, next.si_pid);
  witness_->has_got(signal, sender);  // clears it there, if it did not merge
}

// False if there is no child left.
bool Child::take_changes() {
  for (;;) {
    int status = 0;
    const pid_t changed = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (changed <= 0) return changed == 0;
    if (changed != pid_ || status_) {  // an orphan may have the child's old pid
      has_lost_orphans_ |= WIFSIGNALED(status) && !(witness_ && changed == witness_->pid());
      continue;
    }
    if (WIFSTOPPED(status))
      stop_by(WSTOPSIG(status));
    else
      note_end(status);
  }
}

// Earlier signals were for the child; later ones are for us.
void Child::note_end(int status) {
  status_ = status;
  witness_.reset();
  forget_signals();
  const sigset_t job_control = set_of(kJobControl);
  pthread_sigmask(SIG_UNBLOCK, &job_control, nullptr);
}

// Stops us like the child, until we or the child are continued. If a SIGCONT for us is already
// pending, it is handed on instead.
void Child::stop_by(int signal) {
  sigset_t pending;
  if (::sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1) return;
  const sigset_t only = set_of(std::array{signal});
  const auto before = std::signal(signal, SIG_DFL);
  witness_->watch(pid_);
  // The signal is still blocked, so ours merges with an unread one for the group.
  ::kill(::getpid(), signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  pthread_sigmask(SIG_BLOCK, &only, nullptr);
  witness_->stay_awake();
  if (before != SIG_ERR) std::signal(signal, before);
}

void Child::forget_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) continue;
}

bool Child::has_descendants() { return take_changes(); }

}  // namespace pcp::trace::command
