// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of pmdatrace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collector/engine/types.hpp"
#include "collector/ingest/access.hpp"
#include "collector/spans/shared_spans.hpp"
#include "metrics/metric_table.hpp"
#include "wire/defaults.hpp"

namespace pcp::trace::agent {

struct AgentOptions {
  int domain = 10;                                    // -d: the agent's number among PCP's
  std::string log = "trace.log";                      // -l
  std::string user;                                   // -M: the user to run as; empty: PCP's user
  std::uint16_t port = kDefaultPort;                  // -I, else PCP_TRACE_PORT
  std::string socket_path;                            // -i: Unix socket for traced programs
  AccessList access;                                  // -A
  EngineOptions engine;                               // -T, -N, --max-tags, --histogram-memory
  std::vector<std::string> split;                     // --split
  bool stable_labels = false;                         // --stable-labels
  std::size_t span_bytes = SharedSpans::kUsualBytes;  // --span-memory
  std::string capture;                                // --capture: in canonical form
  bool capture_remote = false;                        // --capture-remote
  ValueUnits units;                                   // -U, -V
  std::string debug;                                  // -D
  bool adopts_numbers = false;                        // -a: adopt numbers and exit
};

struct CommandLine {
  AgentOptions options;  // all that could be parsed, also after a mistake
  Result<void> status;   // the first mistake: the argument's name and the valid values
  enum class Wanted { Agent, Help, Version } wanted = Wanted::Agent;
};

// Takes the port from the environment if the command line does not give one.
CommandLine parse_options(int argc, char* const* argv);

// The text of --help.
std::string agent_usage();

}  // namespace pcp::trace::agent
