// SPDX-License-Identifier: LGPL-2.1-or-later
// A host's data about its traced programs, to explain why no spans come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pcp::trace::command {

struct HostFacts {
  // A program connected for some seconds, with a library that can send spans.
  struct Program {
    std::uint32_t pid = 0;
    std::string process;
    std::string service;
  };

  std::string host;
  std::string only_user;       // not empty: our user, who is shown only his own programs
  std::uint64_t clients = 0;   // connected, with any library
  std::uint64_t captures = 0;  // filters with captures now
  std::uint64_t captured = 0;  // spans of all filters since the agent's start
  std::vector<Program> programs;
  std::vector<std::string> tags;  // of ended or open transactions
};

// A host's name for people: PCP's tools call this host "local:".
inline std::string shown_host(const std::string& name) {
  return name == "local:" ? "this host" : name;
}

}  // namespace pcp::trace::command
