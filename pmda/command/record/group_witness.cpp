// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/group_witness.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "collector/ingest/process_state.hpp"

namespace pcp::trace::command {

namespace {

constexpr int kLookMs = 100;  // between two checks of stopped processes
constexpr int kForEver = -1;

// A question: did `signal` come from `process`? Without a signal: watch `process`, 0 for none.
struct Request {
  int signal = 0;
  pid_t process = 0;
};

bool is_stopped(pid_t process) {
  return agent::state_in("/proc/" + std::to_string(process) + "/stat") == 'T';
}

// pkill and similar tools that search by name or command line should only find the recorder.
void hide() {
  ::prctl(PR_SET_NAME, "signal-witness");
  std::ifstream line("/proc/self/cmdline", std::ios::binary);
  const auto bytes = std::distance(std::istreambuf_iterator<char>(line), {});
  std::memset(program_invocation_name, 0, static_cast<std::size_t>(bytes));
}

// Signals stay pending until asked for, each once, as for a stopped process.
bool has_come_from(pid_t sender, int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  siginfo_t its{};
  const timespec at_once{};
  return ::sigtimedwait(&only, &its, &at_once) == signal && its.si_pid == sender;
}

// Runs until the recorder ends.
[[noreturn]] void be_witness(int socket, pid_t recorder) {
  ::dup2(socket, STDIN_FILENO);  // all other files are closed
  ::close_range(STDIN_FILENO + 1, ~0U, 0);
  hide();
  const auto say = [](bool answer) { ::send(STDIN_FILENO, &answer, sizeof answer, MSG_NOSIGNAL); };
  say(true);
  pid_t watched = 0;
  for (;;) {
    pollfd request_comes{STDIN_FILENO, POLLIN, 0};
    const int comes = ::poll(&request_comes, 1, watched != 0 ? kLookMs : kForEver);
    if (comes == 0 && !is_stopped(watched)) ::kill(recorder, SIGCONT);
    if (comes <= 0) continue;
    Request request;
    if (::recv(STDIN_FILENO, &request, sizeof request, 0) != sizeof request) ::_exit(EXIT_SUCCESS);
    watched = request.signal == 0 ? request.process : 0;
    if (request.signal == 0) continue;
    say(has_come_from(request.process, request.signal));
  }
}

}  // namespace

GroupWitness::GroupWitness() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  socket_.reset(ends[0]);
  Descriptor its_socket(ends[1]);
  const pid_t recorder = ::getpid();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = ::fork();
  if (pid_ == 0) be_witness(its_socket.get(), recorder);
  its_socket.reset();
  if (pid_ > 0) get_answer();  // the witness is hidden now
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

GroupWitness::~GroupWitness() {
  if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;  // already ended by a signal
  ::kill(pid_, SIGKILL);                               // SIGKILL works even if it is stopped
  ::waitpid(pid_, nullptr, 0);
}

bool GroupWitness::has_got(int signal, pid_t sender) {
  const Request request{signal, sender};
  return ::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request &&
         get_answer();
}

// False also if the witness has ended.
bool GroupWitness::get_answer() {
  bool answer = false;
  pollfd answer_comes{socket_.get(), POLLIN, 0};
  // The whole group may have been stopped, and only we continued.
  while (::poll(&answer_comes, 1, kLookMs) == 0)
    if (is_stopped(pid_)) ::kill(pid_, SIGCONT);
  return ::recv(socket_.get(), &answer, sizeof answer, 0) == sizeof answer && answer;
}

void GroupWitness::watch(pid_t program) {
  const Request request{0, program};
  ::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL);
}

}  // namespace pcp::trace::command
