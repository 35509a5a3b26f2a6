// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of pmdatrace.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "collector/engine/engine.hpp"
#include "collector/ingest/access.hpp"
#include "metrics/metric_table.hpp"
#include "wire/defaults.hpp"

namespace pcp::trace::agent {

struct Options {
  int domain = 10;                    // -d: the agent's number among PCP's
  std::string log = "trace.log";      // -l
  std::string user;                   // -M: whom the agent runs as; empty: PCP's user
  std::uint16_t port = kDefaultPort;  // -I, else PCP_TRACE_PORT
  std::string socket_path;            // -i: Unix socket for traced programs
  AccessList access;                  // -A
  EngineOptions engine;               // -T, -N, --max-tags
  ValueUnits units;                   // -U, -V
  std::string debug;                  // -D
};

struct HelpWanted {};

// One line that names the faulty argument and says what is valid.
struct OptionError {
  std::string message;
  std::string log;  // as in Options
};

// Reads the environment for what the command line does not say.
std::variant<Options, HelpWanted, OptionError> parse_options(int argc, char* const* argv);

// Prints the options on standard error.
void print_usage();

}  // namespace pcp::trace::agent
