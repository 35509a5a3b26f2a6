// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/options.hpp"

#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <pwd.h>
#include <sys/un.h>

#include <cstdlib>

#include "agent/parse_argument.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::int64_t kMostBuckets = 1000;
constexpr std::int64_t kMostTags = 10'000'000;
constexpr Time kShortestInterval = std::chrono::milliseconds(1);

pmLongOptions long_options[] = {
    PMDA_OPTIONS_HEADER("Options"),
    {"access", 1, 'A', "RULE", "allow:HOST[:MAXCONNS] or disallow:HOST; may be repeated"},
    {"debug", 1, 'D', "DBG", "PCP debug options, see pmdbg(1)"},
    PMDAOPT_DOMAIN,
    {"port", 1, 'I', "PORT", "TCP port for traced programs, number or service name (default 4323)"},
    {"socket", 1, 'i', "PATH", "Unix socket for traced programs, empty for none"},
    PMDAOPT_LOGFILE,
    {"user", 1, 'M', "USER", "run as this user (default pcp)"},
    {"buckets", 1, 'N', "COUNT", "steps into which the period is divided (default 12)"},
    {"period", 1, 'T', "TIME", "time that rates, means and extrema cover (default 60 seconds)"},
    {"observe-units", 1, 'U', "UNITS", "units of observations, six integers (default 0,0,0,0,0,0)"},
    {"counter-units", 1, 'V', "UNITS", "units of counters, six integers (default 0,0,0,0,0,0)"},
    {"max-tags", 1, 0, "COUNT", "tags to keep apart (default 100000)"},
    {"help", 0, 'h', nullptr, "show this usage message and exit"},
    PMDA_OPTIONS_END,
};

pmOptions getopt_state() {
  pmOptions state{};
  state.short_options = ":A:D:d:hI:i:l:M:N:T:U:V:";  // the first colon: say nothing of errors
  state.long_options = long_options;
  state.short_usage = "[options]";
  return state;
}

// Each function below takes one argument over, and gives an empty string or what is wrong with it.

template <typename Value, typename Target>
std::string take(const Parsed<Value>& parsed, Target& target) {
  if (parsed.error.empty()) target = static_cast<Target>(parsed.value);
  return parsed.error;
}

std::string take_debug(const std::string& text, std::string& target) {
  target += (target.empty() ? "" : ",") + text;
  const bool known = pmSetDebug(text.c_str()) == 0;
  return known ? "" : "\"" + text + "\" has an unknown debug option; `pmdbg -l` lists them all";
}

std::string take_socket(const char* path, std::string& target) {
  target = path;
  const std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
  if (target.size() <= most) return "";
  return "\"" + target + "\" is longer than the " + std::to_string(most) +
         " bytes of a socket's path";
}

std::string take_user(const char* name, std::string& target) {
  target = name;
  return getpwnam(name) ? "" : "\"" + target + "\" is not a user of this system";
}

std::string take_option(int letter, const char* text, Options& options) {
  switch (letter) {
    case 'A':
      return options.access.add(text);
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
      return "";
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
    default:  // the one without a letter
      return take(parse_number(text, 1, kMostTags), options.engine.max_tags);
  }
}

std::string name_of(int letter) {
  return letter == 0 ? "--max-tags" : std::string{'-', static_cast<char>(letter)};
}

// What pmgetopt_r gave a letter for, or the marks of what it did not understand. Empty, or what is
// wrong.
std::string take_result(int letter, const pmOptions& state, char* const* argv, Options& options) {
  const int letter_in_question = state.optopt;
  switch (letter) {
    case ':':
      return name_of(letter_in_question) + ": needs an argument";
    case '?':  // a long one has no letter
      return (letter_in_question != 0 ? name_of(letter_in_question)
                                      : std::string(argv[state.optind - 1])) +
             ": is not an option";
    default:
      const std::string error = take_option(letter, state.optarg, options);
      return error.empty() ? "" : name_of(letter) + ": " + error;
  }
}

std::string take_environment(Options& options) {
  const char* const port = std::getenv("PCP_TRACE_PORT");
  if (!port) return "";
  const std::string error = take(parse_port(port), options.port);
  return error.empty() ? "" : "PCP_TRACE_PORT: " + error;
}

}  // namespace

std::variant<Options, HelpWanted, OptionError> parse_options(int argc, char* const* argv) {
  Options options;
  options.socket_path = std::string(pmGetConfig("PCP_RUN_DIR")) + "/" + kSocketFile;
  std::string error = take_environment(options);

  // Reads on behind an error, for the -l that says where to tell of it.
  pmOptions state = getopt_state();
  for (int letter; (letter = pmgetopt_r(argc, argv, &state)) != EOF;) {
    if (letter == 'h') return HelpWanted{};
    const std::string problem = take_result(letter, state, argv, options);
    if (error.empty()) error = problem;
  }
  if (error.empty() && state.optind < argc) {
    error = "\"" + std::string(argv[state.optind]) + "\": only options are valid here";
  }
  if (error.empty() && options.engine.period / options.engine.buckets < kShortestInterval) {
    error = "-T, -N: the period divided by the buckets must be at least 1 msec";
  }
  if (!error.empty()) return OptionError{error, options.log};
  return options;
}

void print_usage() {
  pmOptions state = getopt_state();
  pmUsageMessage(&state);
}

}  // namespace pcp::trace::agent
