// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/agent_options.hpp"

#include <pwd.h>
#include <sys/un.h>

#include <cstdlib>
#include <string_view>

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

pmLongOptions long_options[] = {
    PMDA_OPTIONS_HEADER("Options"),
    {"access", 1, 'A', "RULE", "allow:HOST[:MAXCONNS] or disallow:HOST; may be repeated"},
    {"adopt-numbers", 0, 'a', nullptr,
     "take over the instance numbers of PCP's running trace agent, and exit"},
    {"debug", 1, 'D', "DBG", "PCP debug options, see pmdbg(1)"},
    PMDAOPT_DOMAIN,
    {"port", 1, 'I', "PORT", "TCP port for traced programs, number or service name (default 4323)"},
    {"socket", 1, 'i', "PATH", "Unix socket for traced programs, or none"},
    PMDAOPT_LOGFILE,
    {"user", 1, 'M', "USER", "run as this user (default pcp)"},
    {"buckets", 1, 'N', "COUNT", "steps into which the period is divided (default 12)"},
    {"period", 1, 'T', "TIME", "time that rates, means and extrema cover (default 60sec)"},
    {"observe-units", 1, 'U', "UNITS", "units of observations, six integers (default 0,0,0,0,0,0)"},
    {"counter-units", 1, 'V', "UNITS", "units of counters, six integers (default 0,0,0,0,0,0)"},
    {"max-tags", 1, 0, "COUNT", "tags to keep apart (default 100000)"},
    {"histogram-memory", 1, 0, "MIB",
     "memory for tracing.histogram, from the first request on (default 64)"},
    {"span-memory", 1, 0, "MIB", "memory for spans that wait for monitors (default 64)"},
    {"capture", 1, 0, "FILTER", "filter of monitors without a filter of their own"},
    {"capture-remote", 0, 0, nullptr, "let monitors of other hosts see spans"},
    {"split", 1, 0, "LABELS", "keep tags apart by these labels of programs, such as service,rank"},
    {"stable-labels", 0, 0, nullptr,
     "show only labels that a tag keeps for ever: those of its name"},
    {"help", 0, 'h', nullptr, "show this usage message and exit"},
    {"version", 0, 'v', nullptr, "show the version and exit"},
    PMDA_OPTIONS_END,
};

pmOptions getopt_state() {
  pmOptions state{};
  state.short_options = ":A:aD:d:hI:i:l:M:N:T:U:V:v";  // the leading colon: print no errors
  state.long_options = long_options;
  state.short_usage = "[options]";
  return state;
}

// Each take_ function parses one argument and stores the value.

template <typename Value, typename Target>
Result<void> take(const Result<Value>& parsed, Target& target) {
  if (!parsed) return parsed.error();
  target = static_cast<Target>(*parsed);
  return {};
}

Result<void> take_debug(const std::string& text, std::string& target) {
  target += (target.empty() ? "" : ",") + text;
  return add_debug_options(text);
}

Result<void> take_socket(const char* path, std::string& target) {
  target = path == std::string_view("none") ? "" : path;
  const std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
  if (target.size() <= most) return {};
  return Error{"\"" + target + "\" is longer than the " + std::to_string(most) +
               " bytes of a socket's path"};
}

Result<void> take_user(const char* name, std::string& target) {
  target = name;
  if (getpwnam(name) != nullptr) return {};
  return Error{"\"" + target + "\" is not a user of this system"};
}

Result<void> take_filter(const char* text, std::string& target) {
  const Result<std::string> filter = canonical_filter(text);
  if (!filter) return filter.error();
  target = *filter;
  return {};
}

Result<void> take_mebibytes(const char* text, std::size_t& target) {
  const Result<std::int64_t> mebibytes = parse_number(text, 1, kMostMiB);
  if (!mebibytes) return mebibytes.error();
  target = static_cast<std::size_t>(*mebibytes) << 20;
  return {};
}

Result<void> set(bool& target) {
  target = true;
  return {};
}

// Stores one option; `name` is its spelling for messages.
Result<void> take_option(int letter, const std::string& name, const char* text,
                         AgentOptions& options) {
  switch (letter) {
    case 'A':
      return options.access.add(text);
    case 'a':
      options.adopts_numbers = true;
      return {};
    case 'D':
      return take_debug(text, options.debug);
    case 'd':
      return take(parse_number(text, 1, 510), options.domain);
    case 'I':
      return take(parse_port(text), options.port);
    case 'i':
      return take_socket(text, options.socket_path);
    case 'l':
      options.log = text;
      return {};
    case 'M':
      return take_user(text, options.user);
    case 'N':
      return take(parse_number(text, 1, kMostBuckets), options.engine.buckets);
    case 'T':
      return take(parse_period(text), options.engine.period);
    case 'U':
      return take(parse_units(text), options.units.observation);
    case 'V':
      return take(parse_units(text), options.units.counter);
    default:  // options without a letter
      if (name == "--split") return take(parse_keys(text), options.split);
      if (name == "--histogram-memory")
        return take_mebibytes(text, options.engine.max_cumulative_bytes);
      if (name == "--span-memory") return take_mebibytes(text, options.span_bytes);
      if (name == "--capture") return take_filter(text, options.capture);
      if (name == "--capture-remote") return set(options.capture_remote);
      if (name == "--stable-labels") return set(options.stable_labels);
      return take(parse_number(text, 1, kMostTags), options.engine.max_tags);
  }
}

std::string name_of(int letter, const char* long_name) {
  return letter == 0 ? long_name : std::string{'-', static_cast<char>(letter)};
}

Result<void> named(const std::string& name, const Result<void>& taken) {
  if (taken) return {};
  return Error{name + ": " + taken.error().message};
}

// Handles a result of pmgetopt_r: an option's letter, or its mark for an error.
Result<void> take_result(int letter, const pmOptions& state, char* const* argv,
                         AgentOptions& options) {
  const std::string in_question = name_of(state.optopt, argv[state.optind - 1]);
  switch (letter) {
    case ':':
      return Error{in_question + ": needs an argument"};
    case '?':
      return Error{in_question + ": is not an option"};
    default: {
      const std::string long_name = std::string("--") + long_options[state.index].long_opt;
      const std::string name = name_of(letter, long_name.c_str());
      return named(name, take_option(letter, name, state.optarg, options));
    }
  }
}

Result<void> take_environment(AgentOptions& options) {
  const char* const port = std::getenv("PCP_TRACE_PORT");
  if (!port) return {};
  return named("PCP_TRACE_PORT", take(parse_port(port), options.port));
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
  line.status = take_environment(options);

  // Continues after a mistake, because -l says where to report the mistake.
  pmOptions state = getopt_state();
  for (int letter; (letter = pmgetopt_r(argc, argv, &state)) != EOF;) {
    if (letter == 'h') line.wanted = CommandLine::Wanted::Help;
    if (letter == 'v') line.wanted = CommandLine::Wanted::Version;
    if (line.wanted != CommandLine::Wanted::Agent) return line;
    const Result<void> taken = take_result(letter, state, argv, options);
    if (line.status) line.status = taken;
  }
  if (line.status && state.optind < argc)
    line.status = Error{"\"" + std::string(argv[state.optind]) + "\": only options are valid here"};
  if (line.status) line.status = check_steps(options.engine);
  return line;
}

void print_usage() {
  pmOptions state = getopt_state();
  pmUsageMessage(&state);
}

}  // namespace pcp::trace::agent
