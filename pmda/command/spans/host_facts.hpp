// SPDX-License-Identifier: LGPL-2.1-or-later
// What a host tells of its traced programs, for one who wonders why he sees no spans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pcp::trace::command {

struct HostFacts {
  // One that is connected with a library that can send spans, for more than a few seconds.
  struct Program {
    std::uint32_t pid = 0;
    std::string process;
    std::string service;
  };

  std::string host;
  std::string only_user;       // not empty: we are this one, and are shown his programs only
  std::uint64_t clients = 0;   // that are connected, with whatever library
  std::uint64_t captures = 0;  // filters for which spans are captured now
  std::uint64_t captured = 0;  // spans, of all filters since the agent's start
  std::vector<Program> programs;
  std::vector<std::string> tags;  // of transactions that have ended, or are open
};

// A host's name for the eye: PCP's tools call this one so.
inline std::string shown_host(const std::string& name) {
  return name == "local:" ? "this host" : name;
}

}  // namespace pcp::trace::command
