// SPDX-License-Identifier: LGPL-2.1-or-later
// A TestAgent in a process of its own, for tests that fork: so a fork can interrupt only threads of
// the library and of the test.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stress/test_agent.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace {

class AgentHost {
 public:
  using Totals = std::map<std::pair<TraceType, std::string>, Total>;

  struct Counters {
    std::uint64_t connections;  // now
    std::uint64_t boxes;        // now
    std::uint64_t duplicates;
    std::uint64_t complaints;  // peers refused, or dropped for a fault of theirs
  };

  // Sets the environment so that the library connects to it. Requires: a process without threads
  // that has traced nothing yet.
  AgentHost();
  ~AgentHost();
  AgentHost(const AgentHost&) = delete;
  AgentHost& operator=(const AgentHost&) = delete;

  const std::string& directory() const { return directory_; }
  std::string socket_path() const { return directory_ + "/agent.socket"; }
  std::uint16_t port() const { return port_; }

  // Stops the process of the agent, and lets it go on.
  void pause() const;
  void go_on() const;

  // Monitors of spans have numbers. Close them before another agent starts.
  static constexpr std::size_t kMaxMonitors = 8;
  struct Span {
    std::uint64_t id;
    std::uint64_t parent;
    std::uint64_t trace;  // the low half
  };
  struct Spans {
    std::vector<Span> spans;
    std::uint64_t missed = 0;
    bool is_all = false;
  };
  bool open_monitor(std::size_t number, const std::string& filter);
  void close_monitor(std::size_t number);
  Spans read_monitor(std::size_t number, std::size_t most);
  void set_span_bytes(std::size_t bytes);
  std::uint64_t captured();  // in all captures together

  // As in TestAgent.
  void stop();
  void start();
  Totals totals();
  Total total(TraceType type, const std::string& tag) { return totals()[{type, tag}]; }
  Counters counters();

 private:
  enum class Question : char;
  struct Asked;
  class Server;

  void say(Question question, std::size_t monitor = 0, std::size_t amount = 0,
           const std::string& filter = {});
  template <typename Answer>
  Answer receive();
  template <typename Answer>
  std::vector<Answer> receive_all();

  int socket_ = -1;
  const pid_t owner_ = ::getpid();  // a forked child's copy ends nothing
  pid_t pid_ = -1;
  std::string directory_;
  std::uint16_t port_ = 0;
};

}  // namespace pcp::trace
