#include "agent_process.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "test_agent.hpp"

namespace pcp::trace {
namespace {

struct Question {
  TraceType type;
  std::array<char, 64> tag;
};

template <typename Message>
bool receive(int socket, Message& message) {
  return ::recv(socket, &message, sizeof message, MSG_WAITALL) == sizeof message;
}

template <typename Message>
void send(int socket, const Message& message) {
  if (::send(socket, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) std::abort();
}

void serve(int socket) {
  TestAgent agent;
  std::array<char, 256> directory{};
  agent.directory().copy(directory.data(), directory.size() - 1);
  send(socket, directory);
  for (Question question; receive(socket, question);) {
    const Delta total = agent.total(question.type, question.tag.data());
    send(socket, AgentProcess::Total{total.count, total.sum, total.aborts});
  }
}

}  // namespace

AgentProcess::AgentProcess() {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    ::close(ends[0]);
    serve(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  std::array<char, 256> directory;
  if (!receive(socket_, directory)) std::abort();
  point_library_at(directory.data());
}

void AgentProcess::stop() {
  if (pid_ < 0) return;
  ::shutdown(socket_, SHUT_RDWR);  // forked children may have a copy
  ::close(socket_);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

AgentProcess::Total AgentProcess::total(TraceType type, const std::string& tag) {
  Question question{type, {}};
  tag.copy(question.tag.data(), question.tag.size() - 1);
  send(socket_, question);
  Total total;
  if (!receive(socket_, total)) std::abort();
  return total;
}

}  // namespace pcp::trace
