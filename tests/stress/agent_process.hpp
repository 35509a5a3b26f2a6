// A TestAgent in a process of its own, for tests that fork: then the only threads that a fork can
// find in the middle of something are the library's and the test's.
#pragma once

#include <sys/types.h>

#include <string>

#include "wire/trace_type.hpp"

namespace pcp::trace {

class AgentProcess {
 public:
  // Requires: nothing was traced in this process before.
  AgentProcess();
  ~AgentProcess() { stop(); }
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  void stop();

  struct Total {
    std::uint64_t count;
    double sum;
    std::uint64_t aborts;
  };
  Total total(TraceType type, const std::string& tag);

 private:
  int socket_ = -1;  // the agent ends when it is closed
  pid_t pid_ = -1;
};

}  // namespace pcp::trace
