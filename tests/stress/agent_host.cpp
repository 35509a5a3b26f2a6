// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent_host.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "test_agent.hpp"

namespace pcp::trace {
namespace {

enum class Question : char {
  Stop,
  Start,
  Totals,
  Counters,
  OpenMonitor,
  CloseMonitor,
  ReadMonitor,
  SpanBytes,
  Captured
};

// Sent after a question about a monitor.
struct OfMonitor {
  std::size_t number;
  std::size_t amount;
  std::array<char, 512> filter;
};

struct Read {
  std::size_t spans;
  std::uint64_t missed;
  bool is_all;
};

struct Location {
  std::array<char, 256> directory;
  std::uint16_t port;
};

struct TotalOfTag {
  std::array<char, kMaxTagLength + 1> tag;
  TraceType type;
  Total total;
};

bool receive_bytes(int socket, void* bytes, std::size_t size) {
  return size == 0 || ::recv(socket, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

template <typename Message>
bool receive(int socket, Message& message) {
  return receive_bytes(socket, &message, sizeof message);
}

void send_bytes(int socket, const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = ::send(socket, next, size, MSG_NOSIGNAL);
    if (sent <= 0) ::_exit(1);
    next += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

template <typename Message>
void send(int socket, const Message& message) {
  send_bytes(socket, &message, sizeof message);
}

Location location_of(const TestAgent& agent) {
  Location location{{}, agent.port()};
  agent.directory().copy(location.directory.data(), location.directory.size() - 1);
  return location;
}

std::vector<TotalOfTag> totals_of(TestAgent& agent) {
  std::vector<TotalOfTag> all;
  for (const TraceType type : kTraceTypes)
    for (const auto& [tag, total] : agent.totals(type)) {
      TotalOfTag& made = all.emplace_back(TotalOfTag{{}, type, total});
      tag.copy(made.tag.data(), kMaxTagLength);
    }
  return all;
}

AgentHost::Counters counters_of(TestAgent& agent) {
  const agent::IngestCounters& all = agent.counters();
  // Without dropped_timeout: on a very busy machine a client may really be that slow.
  return {all.connections, all.duplicates,
          all.refused_permission + all.refused_limit + all.refused_quota + all.dropped_malformed +
              all.dropped_limit};
}

using Monitors =
    std::array<std::unique_ptr<agent::SharedSpans::Subscription>, AgentHost::kMaxMonitors>;

void read(int socket, agent::SharedSpans::Subscription& monitor, std::size_t most) {
  const agent::SpanReading reading = monitor.read(most);
  const std::size_t taken = reading.entries.size();
  std::vector<AgentHost::Span> spans;
  for (const auto& entry : reading.entries) spans.push_back({entry.span->span, entry.span->parent});
  monitor.advance(reading, taken);
  send(socket, Read{taken, reading.missed(taken), reading.is_all});
  send_bytes(socket, spans.data(), taken * sizeof(AgentHost::Span));
}

void answer_about_monitor(int socket, Question question, TestAgent& agent, Monitors& monitors) {
  OfMonitor of{};
  if (!receive(socket, of)) ::_exit(0);
  auto& monitor = monitors[of.number];
  switch (question) {
    case Question::OpenMonitor:
      monitor = agent.spans().capture(*agent::canonical_filter(of.filter.data()), {});
      return send(socket, monitor != nullptr);
    case Question::CloseMonitor:
      monitor.reset();
      return send(socket, true);
    case Question::ReadMonitor:
      return read(socket, *monitor, of.amount);
    default:
      agent.spans().set_most_bytes(of.amount);
      return send(socket, true);
  }
}

void serve(int socket) {
  TestAgent agent;
  Monitors monitors;
  send(socket, location_of(agent));
  for (Question question; receive(socket, question);) {
    switch (question) {
      case Question::Stop:
        agent.stop();
        send(socket, true);
        break;
      case Question::Start:
        agent.start();
        send(socket, location_of(agent));
        break;
      case Question::Totals: {
        const std::vector<TotalOfTag> all = totals_of(agent);
        send(socket, all.size());
        send_bytes(socket, all.data(), all.size() * sizeof(TotalOfTag));
        break;
      }
      case Question::Counters:
        send(socket, counters_of(agent));
        break;
      case Question::OpenMonitor:
      case Question::CloseMonitor:
      case Question::ReadMonitor:
      case Question::SpanBytes:
        answer_about_monitor(socket, question, agent, monitors);
        break;
      case Question::Captured:
        send(socket, agent.spans().totals().captured);
        break;
    }
  }
}

// Asks, and fills in the answer; throws if the agent has died.
template <typename Answer>
void ask(int socket, Question question, Answer& answer) {
  if (::send(socket, &question, sizeof question, MSG_NOSIGNAL) != sizeof question ||
      !receive(socket, answer))
    throw std::runtime_error("the agent is gone");
}

}  // namespace

AgentHost::AgentHost() {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    ::close(ends[0]);  // so this process ends well with the last of the test's processes
    serve(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  Location location;
  if (!receive(socket_, location)) std::abort();
  directory_ = location.directory.data();
  port_ = location.port;
  point_library_at(directory_);
}

AgentHost::~AgentHost() {
  if (::getpid() != owner_) return;
  ::shutdown(socket_, SHUT_RDWR);  // forked children may have a copy
  ::close(socket_);
  ::waitpid(pid_, nullptr, 0);
}

void AgentHost::stop() {
  bool stopped;
  ask(socket_, Question::Stop, stopped);
}

void AgentHost::start() {
  Location location;
  ask(socket_, Question::Start, location);
  port_ = location.port;
}

void AgentHost::pause() const { ::kill(pid_, SIGSTOP); }
void AgentHost::go_on() const { ::kill(pid_, SIGCONT); }

void AgentHost::ask_of_monitor(char question, std::size_t number, std::size_t amount,
                               const std::string& filter) {
  OfMonitor of{number, amount, {}};
  filter.copy(of.filter.data(), of.filter.size() - 1);
  if (::send(socket_, &question, 1, MSG_NOSIGNAL) != 1 ||
      ::send(socket_, &of, sizeof of, MSG_NOSIGNAL) != sizeof of)
    throw std::runtime_error("the agent is gone");
}

bool AgentHost::open_monitor(std::size_t number, const std::string& filter) {
  ask_of_monitor(static_cast<char>(Question::OpenMonitor), number, 0, filter);
  bool is_open = false;
  return receive(socket_, is_open) && is_open;
}

void AgentHost::close_monitor(std::size_t number) {
  ask_of_monitor(static_cast<char>(Question::CloseMonitor), number, 0);
  bool done;
  receive(socket_, done);
}

void AgentHost::set_span_bytes(std::size_t bytes) {
  ask_of_monitor(static_cast<char>(Question::SpanBytes), 0, bytes);
  bool done;
  receive(socket_, done);
}

AgentHost::Spans AgentHost::read_monitor(std::size_t number, std::size_t most) {
  ask_of_monitor(static_cast<char>(Question::ReadMonitor), number, most);
  Read read;
  Spans spans;
  if (!receive(socket_, read)) throw std::runtime_error("the agent is gone");
  spans.spans.resize(read.spans);
  spans.missed = read.missed;
  spans.is_all = read.is_all;
  if (!receive_bytes(socket_, spans.spans.data(), read.spans * sizeof(Span)))
    throw std::runtime_error("the agent is gone");
  return spans;
}

std::uint64_t AgentHost::captured() {
  std::uint64_t captured = 0;
  ask(socket_, Question::Captured, captured);
  return captured;
}

AgentHost::Totals AgentHost::totals() {
  std::size_t size;
  ask(socket_, Question::Totals, size);
  std::vector<TotalOfTag> all(size);
  if (!receive_bytes(socket_, all.data(), size * sizeof(TotalOfTag)))
    throw std::runtime_error("the agent is gone");
  Totals totals;
  for (const TotalOfTag& each : all) totals[{each.type, each.tag.data()}] = each.total;
  return totals;
}

AgentHost::Counters AgentHost::counters() {
  Counters counters;
  ask(socket_, Question::Counters, counters);
  return counters;
}

}  // namespace pcp::trace
