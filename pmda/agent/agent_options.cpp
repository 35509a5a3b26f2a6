// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/agent_options.hpp"

#include <pwd.h>
#include <sys/un.h>

#include <cstdlib>

#include "base/options.hpp"
#include "collector/spans/capture_table.hpp"
#include "metrics/debug_options.hpp"
#include "metrics/parse_argument.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::int64_t kMostBuckets = 1000;
constexpr std::int64_t kMostTags = 10'000'000;
constexpr std::int64_t kMostMiB = 1 << 20;
constexpr Duration kShortestInterval = std::chrono::milliseconds(1);

Result<void> add_debug(const std::string& text, std::string& target) {
  target += (target.empty() ? "" : ",") + text;
  return add_debug_options(text);
}

Result<std::string> parse_socket(const std::string& path) {
  if (path == "none") return std::string();
  const std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() <= most) return path;
  return Error{"\"" + path + "\" is too long for a socket's path: at most " + std::to_string(most) +
               " bytes"};
}

Result<std::string> parse_user(const std::string& name) {
  if (getpwnam(name.c_str()) != nullptr) return name;
  return Error{"\"" + name + "\" is not a user of this system"};
}

template <typename Number>
auto numbers(std::int64_t least, std::int64_t most) {
  return [=](const std::string& text) -> Result<Number> {
    const Result<std::int64_t> number = parse_number(text, least, most);
    if (!number) return number.error();
    return static_cast<Number>(*number);
  };
}

Result<std::size_t> parse_mebibytes(const std::string& text) {
  const Result<std::int64_t> mebibytes = parse_number(text, 1, kMostMiB);
  if (!mebibytes) return mebibytes.error();
  return static_cast<std::size_t>(*mebibytes) << 20;
}

// Stores what to do instead of serving as an agent.
auto wants(CommandLine::Wanted what, CommandLine& line) {
  return [what, &line](const char*) -> Result<void> {
    line.wanted = what;
    return {};
  };
}

std::vector<Option> table_for(CommandLine& line) {
  AgentOptions& options = line.options;
  return {
      {"access", 'A', "RULE", "allow:HOST[:MAXCONNS] or disallow:HOST; may be repeated",
       [&](const char* rule) { return options.access.add(rule); }},
      {"adopt-numbers", 'a', nullptr,
       "take over the instance numbers of PCP's running trace agent,\nand exit",
       sets(options.adopts_numbers)},
      {"debug", 'D', "DBG", "PCP debug options, see pmdbg(1)",
       [&](const char* text) { return add_debug(text, options.debug); }},
      {"domain", 'd', "N", "number of the agent's metrics (default 10)",
       parses(numbers<int>(1, 510), options.domain)},
      {"port", 'I', "PORT", "TCP port for traced programs, number or service name\n(default 4323)",
       parses(parse_port, options.port)},
      {"socket", 'i', "PATH", "Unix socket for traced programs, or none",
       parses(parse_socket, options.socket_path)},
      {"log", 'l', "FILE", "the log (default trace.log)",
       parses([](const std::string& file) -> Result<std::string> { return file; }, options.log)},
      {"user", 'M', "USER", "run as this user (default pcp)", parses(parse_user, options.user)},
      {"buckets", 'N', "COUNT", "steps into which the period is divided (default 12)",
       parses(numbers<std::uint32_t>(1, kMostBuckets), options.engine.buckets)},
      {"period", 'T', "TIME", "time that rates, means and extrema cover (default 60sec)",
       parses(parse_period, options.engine.period)},
      {"observe-units", 'U', "UNITS", "units of observations, six integers (default 0,0,0,0,0,0)",
       parses(parse_units, options.units.observation)},
      {"counter-units", 'V', "UNITS", "units of counters, six integers (default 0,0,0,0,0,0)",
       parses(parse_units, options.units.counter)},
      {"max-tags", 0, "COUNT", "tags to keep apart (default 100000)",
       parses(numbers<std::uint32_t>(1, kMostTags), options.engine.max_tags)},
      {"histogram-memory", 0, "MIB",
       "memory for tracing.histogram, from the first request on\n(default 64)",
       parses(parse_mebibytes, options.engine.max_cumulative_bytes)},
      {"span-memory", 0, "MIB", "memory for spans that wait for monitors (default 64)",
       parses(parse_mebibytes, options.span_bytes)},
      {"capture", 0, "FILTER", "filter of monitors without a filter of their own",
       parses([](const std::string& text) { return canonical_filter(text); }, options.capture)},
      {"capture-remote", 0, nullptr, "let monitors of other hosts see spans",
       sets(options.capture_remote)},
      {"split", 0, "LABELS", "keep tags apart by these labels of programs, such as\nservice,rank",
       parses(parse_keys, options.split)},
      {"stable-labels", 0, nullptr, "show only labels that a tag keeps for ever: those of its name",
       sets(options.stable_labels)},
      {"help", 'h', nullptr, "show this text", wants(CommandLine::Wanted::Help, line), true},
      {"version", 'v', nullptr, "show the version", wants(CommandLine::Wanted::Version, line),
       true},
  };
}

Result<void> check_steps(const EngineOptions& engine) {
  if (engine.period / engine.buckets >= kShortestInterval) return {};
  return Error{"-T, -N: the period divided by the buckets must be at least 1 msec"};
}

}  // namespace

CommandLine parse_options(int argc, char* const* argv) {
  CommandLine line;
  AgentOptions& options = line.options;
  options.socket_path = std::string(pmGetConfig("PCP_RUN_DIR")) + "/" + kSocketFile;
  if (const char* const port = std::getenv("PCP_TRACE_PORT"))
    if (const auto stored = parses(parse_port, options.port)(port); !stored)
      line.status = Error{"PCP_TRACE_PORT: " + stored.error().message};
  // Also stores what is behind a mistake, because -l says where to report the mistake.
  const auto others = read_options(argc, argv, table_for(line), OtherWords::Anywhere);
  if (!line.status) return line;
  if (!others) {
    line.status = others.error();
  } else if (!others->empty()) {
    line.status = Error{"\"" + others->front() + "\": unexpected argument, only options are valid"};
  } else {
    line.status = check_steps(options.engine);
  }
  return line;
}

std::string agent_usage() {
  CommandLine none;
  return usage("Usage: pmdatrace [OPTION...]\n\n", table_for(none), "");
}

}  // namespace pcp::trace::agent
