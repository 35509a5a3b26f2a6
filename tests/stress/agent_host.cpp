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

enum class AgentHost::Question : char {
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

namespace {

struct Location {
  std::array<char, 256> directory;
  std::uint16_t port;
};

struct TotalOfTag {
  std::array<char, kMaxTagLength + 1> tag;
  TraceType type;
  Total total;
};

// False if the other process has ended.
bool receive_bytes(int socket, void* bytes, std::size_t size) {
  return size == 0 || ::recv(socket, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

bool send_bytes(int socket, const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = ::send(socket, next, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    next += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
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
  return {all.connections, all.boxes, all.duplicates,
          all.refused_permission + all.refused_limit + all.refused_quota + all.dropped_malformed +
              all.dropped_limit};
}

}  // namespace

// A question of AgentHost, about a monitor perhaps.
struct AgentHost::Asked {
  Question question;
  std::size_t monitor;
  std::size_t amount;
  std::array<char, 512> filter;
};

// The agent's side, in its own process.
class AgentHost::Server {
 public:
  explicit Server(int socket) : socket_(socket) {}

  void run() {
    answer(location_of(agent_));
    for (Asked asked; receive_bytes(socket_, &asked, sizeof asked);) answer_to(asked);
  }

 private:
  void answer_to(const Asked& asked) {
    auto& monitor = monitors_[asked.monitor];
    switch (asked.question) {
      case Question::Stop:
        agent_.stop();
        break;
      case Question::Start:
        agent_.start();
        return answer(location_of(agent_));
      case Question::Totals:
        return answer_all(totals_of(agent_));
      case Question::Counters:
        return answer(counters_of(agent_));
      case Question::OpenMonitor:
        monitor = agent_.spans().capture(*agent::canonical_filter(asked.filter.data()), {});
        return answer(monitor != nullptr);
      case Question::CloseMonitor:
        monitor.reset();
        break;
      case Question::ReadMonitor:
        return read(*monitor, asked.amount);
      case Question::SpanBytes:
        agent_.spans().set_most_bytes(asked.amount);
        break;
      case Question::Captured:
        return answer(agent_.spans().totals().captured);
    }
    answer(true);
  }
  void read(agent::SharedSpans::Subscription& monitor, std::size_t most) {
    const agent::SpanReading reading = monitor.read(most);
    const std::size_t taken = reading.entries.size();
    std::vector<Span> spans;
    for (const auto& entry : reading.entries)
      spans.push_back({entry.span->span, entry.span->parent, entry.span->trace_low});
    monitor.advance(reading, taken);
    answer_all(spans);
    answer(reading.missed(taken));
    answer(reading.is_all);
  }
  template <typename Answer>
  void answer(const Answer& answer) const {
    if (!send_bytes(socket_, &answer, sizeof answer)) ::_exit(1);
  }
  template <typename Answer>
  void answer_all(const std::vector<Answer>& answers) const {
    answer(answers.size());
    if (!send_bytes(socket_, answers.data(), answers.size() * sizeof(Answer))) ::_exit(1);
  }

  const int socket_;
  TestAgent agent_;
  std::array<std::unique_ptr<agent::SharedSpans::Subscription>, kMaxMonitors> monitors_;
};

AgentHost::AgentHost() {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    ::close(ends[0]);  // so this process ends well with the last of the test's processes
    Server(ends[1]).run();
    ::_exit(0);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  const auto location = receive<Location>();
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

template <typename Answer>
Answer AgentHost::receive() {
  Answer answer;
  if (!receive_bytes(socket_, &answer, sizeof answer))
    throw std::runtime_error("the agent is gone");
  return answer;
}

template <typename Answer>
std::vector<Answer> AgentHost::receive_all() {
  std::vector<Answer> answers(receive<std::size_t>());
  if (!receive_bytes(socket_, answers.data(), answers.size() * sizeof(Answer)))
    throw std::runtime_error("the agent is gone");
  return answers;
}

void AgentHost::say(Question question, std::size_t monitor, std::size_t amount,
                    const std::string& filter) {
  Asked asked{question, monitor, amount, {}};
  filter.copy(asked.filter.data(), asked.filter.size() - 1);
  if (!send_bytes(socket_, &asked, sizeof asked)) throw std::runtime_error("the agent is gone");
}

void AgentHost::pause() const { ::kill(pid_, SIGSTOP); }
void AgentHost::go_on() const { ::kill(pid_, SIGCONT); }

void AgentHost::stop() {
  say(Question::Stop);
  receive<bool>();
}

void AgentHost::start() {
  say(Question::Start);
  port_ = receive<Location>().port;
}

bool AgentHost::open_monitor(std::size_t number, const std::string& filter) {
  say(Question::OpenMonitor, number, 0, filter);
  return receive<bool>();
}

void AgentHost::close_monitor(std::size_t number) {
  say(Question::CloseMonitor, number);
  receive<bool>();
}

void AgentHost::set_span_bytes(std::size_t bytes) {
  say(Question::SpanBytes, 0, bytes);
  receive<bool>();
}

AgentHost::Spans AgentHost::read_monitor(std::size_t number, std::size_t most) {
  say(Question::ReadMonitor, number, most);
  return {receive_all<Span>(), receive<std::uint64_t>(), receive<bool>()};
}

std::uint64_t AgentHost::captured() {
  say(Question::Captured);
  return receive<std::uint64_t>();
}

AgentHost::Totals AgentHost::totals() {
  say(Question::Totals);
  Totals totals;
  for (const TotalOfTag& each : receive_all<TotalOfTag>())
    totals[{each.type, each.tag.data()}] = each.total;
  return totals;
}

AgentHost::Counters AgentHost::counters() {
  say(Question::Counters);
  return receive<Counters>();
}

}  // namespace pcp::trace
