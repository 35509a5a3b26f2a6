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

#include "collector/engine/clock.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::array kHandedOn{SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t signals_that_are_read() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGINT);
  for (const int signal : kHandedOn) sigaddset(&signals, signal);
  return signals;
}

// The strings, and the array of pointers to them that exec() wants.
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

// PCP's library puts all of /etc/pcp.conf into our environment, and a collector raises the limit of
// descriptors: the child is to have neither.
Child::Child() : environment_(present_environment()) {
  ::getrlimit(RLIMIT_NOFILE, &descriptors_before_);
  const sigset_t signals = signals_that_are_read();
  pthread_sigmask(SIG_BLOCK, &signals, &blocked_before_);
  signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw std::system_error(errno, std::generic_category(), "signalfd");
  std::signal(SIGCHLD, SIG_DFL);  // who has it ignored learns of no child's status
  on_large_file_before_ = std::signal(SIGXFSZ, SIG_IGN);  // that a file may not grow, write() says
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Child::~Child() {
  // What the terminal sent to the child as well must not end us now.
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) continue;
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

int Child::start(const std::vector<std::string>& words, const EnvironmentChanges& changes) {
  const Strings arguments(words);
  const Strings environment(changed(environment_, changes));
  std::array<int, 2> ends{};  // the child's errno comes through it; exec() closes it
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  const agent::Descriptor read_end(ends[0]);
  agent::Descriptor write_end(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) return errno;
  if (pid_ == 0) {
    pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
    std::signal(SIGXFSZ, on_large_file_before_);
    ::setrlimit(RLIMIT_NOFILE, &descriptors_before_);
    // By a pointer: where coverage is measured the compiler has the counts written before calls of
    // this name, which takes memory, and another thread may have held the allocator at the fork.
    auto* volatile const execute = &::execvpe;
    execute(arguments.get()[0], arguments.get(), environment.get());
    const int error = errno;
    const bool is_told = ::write(write_end.get(), &error, sizeof error) == sizeof error;
    ::_exit(is_told ? EXIT_SUCCESS : status_of_failed_start(error));
  }
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

bool Child::wait_until(agent::Time until) {
  while (!exit_status_) {
    const int signal = next_signal(until);
    if (signal == 0) break;
    act_on(signal);
  }
  return exit_status_.has_value();
}

bool Child::is_interrupted_before(agent::Time until) {
  int signal = next_signal(until);
  while (signal == SIGCHLD || signal == SIGUSR1 || signal == SIGUSR2) signal = next_signal(until);
  return signal != 0;
}

// Gives 0 if there is none until then.
int Child::next_signal(agent::Time until) {
  for (;;) {
    const agent::Time now = agent::steady_now();
    const timespec timeout = agent::to_timespec(std::max(until - now, agent::Time(0)));
    pollfd signals{signals_.get(), POLLIN, 0};
    signalfd_siginfo signal{};
    if (::ppoll(&signals, 1, &timeout, nullptr) > 0) {
      if (::read(signals_.get(), &signal, sizeof signal) == sizeof signal)
        return static_cast<int>(signal.ssi_signo);
    } else if (now >= until) {
      return 0;
    }
  }
}

void Child::act_on(int signal) {
  if (signal == SIGINT) return;
  if (signal != SIGCHLD) {
    ::kill(pid_, signal);
    return;
  }
  take_ends();
}

// Gives false if there is no child any more.
bool Child::take_ends() {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended <= 0) return ended == 0;
    if (ended == pid_)
      exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

bool Child::has_descendants() { return take_ends(); }

}  // namespace pcp::trace::command
