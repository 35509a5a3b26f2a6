// SPDX-License-Identifier: LGPL-2.1-or-later
// Explains in a few lines why no spans come from a host, or are in a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/pcp/pcp_host.hpp"
#include "command/show/shown.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

// A host's data about its traced programs.
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
  std::uint64_t boxes = 0;     // of programs, for the agent to read when they die
  std::uint64_t captures = 0;  // filters with captures now
  std::uint64_t captured = 0;  // spans of all filters since the agent's start
  std::vector<Program> programs;
  std::vector<std::string> tags;  // of ended or open transactions
};

HostFacts read_facts(const PcpHost& host);

std::string explanation(const HostFacts& facts, const wire::CaptureFilter& filter,
                        const Shown& shown);

// A line with names of a recording's tags, or on labels if the filter matches none without them.
// Empty if the names are not the cause, or if there are none.
std::string unmatched_filter(const std::string& filter, const std::vector<Tag>& tags,
                             const Shown& shown);

}  // namespace pcp::trace::command
