// The agent of a schedule, in a process of its own, which can be told to begin anew.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "wire/delta.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::chaos {

class AgentHost {
 public:
  using Totals = std::map<std::pair<TraceType, std::string>, Delta>;

  struct Counters {
    std::uint64_t connections;  // now
    std::uint64_t duplicates;
    std::uint64_t complaints;  // peers refused, or dropped for what they said
  };

  // Requires: a process without threads.
  AgentHost();
  ~AgentHost();
  AgentHost(const AgentHost&) = delete;
  AgentHost& operator=(const AgentHost&) = delete;

  const std::string& directory() const { return directory_; }
  std::string socket_path() const { return directory_ + "/agent.socket"; }
  std::uint16_t port() const { return port_; }

  void stop();  // totals and counters can still be read
  void start();
  Totals totals();
  Counters counters();

 private:
  int socket_ = -1;
  pid_t pid_ = -1;
  std::string directory_;
  std::uint16_t port_ = 0;
};

}  // namespace pcp::trace::chaos
