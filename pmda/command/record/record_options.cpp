// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/record_options.hpp"

#include <getopt.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "collector/spans/captures.hpp"
#include "command/record/option_reading.hpp"
#include "command/time_argument.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

namespace {

enum LongOption { kArchiveVersion = 256, kHelp, kHtml, kJson, kSpans, kWait };

constexpr std::array kLongOptions{
    option{"archive-version", required_argument, nullptr, kArchiveVersion},
    option{"help", no_argument, nullptr, kHelp},
    option{"host", required_argument, nullptr, 'h'},
    option{"html", required_argument, nullptr, kHtml},
    option{"interval", required_argument, nullptr, 't'},
    option{"json", no_argument, nullptr, kJson},
    option{"output", required_argument, nullptr, 'o'},
    option{"quiet", no_argument, nullptr, 'q'},
    option{"size", required_argument, nullptr, 's'},
    option{"spans", required_argument, nullptr, kSpans},
    option{"wait", no_argument, nullptr, kWait},
    option{nullptr, 0, nullptr, 0},
};

constexpr Duration kShortestInterval = std::chrono::milliseconds(10);

Result<Duration> parse_interval(const std::string& text) {
  Result<Duration> interval = parse_time(text);
  if (interval && *interval < kShortestInterval)
    return Error{"\"" + text + "\" is shorter than the 10 msec between two samples"};
  return interval;
}

Result<ArchiveVersion> parse_version(const std::string& text) {
  if (text == "2") return ArchiveVersion::V2;
  if (text == "3") return ArchiveVersion::V3;
  return Error{"\"" + text +
               "\" is not 2, which all of PCP's releases read, or 3, which those from 6 on read"};
}

Result<void> take_option(int which, const char* argument, RecordOptions& options) {
  switch (which) {
    case 'h':
      return take(parse_host(argument), options.host);
    case 'o':
      options.folder = argument;
      return {};
    case 'q':
      options.is_quiet = true;
      return {};
    case 's':
      return take(parse_time(argument), options.duration);
    case 't':
      return take(parse_interval(argument), options.interval);
    case kArchiveVersion:
      return take(parse_version(argument), options.version);
    case kHelp:
      options.wants_help = true;
      return {};
    case kHtml:
      options.page = argument;
      return {};
    case kJson:
      options.is_json = true;
      return {};
    case kSpans:
      return take(agent::canonical_filter(argument), options.spans);
    default:
      options.waits = true;
      return {};
  }
}

// `pcp -h HOST -t TIME trace record` arrives in the environment.
Result<void> take_environment(RecordOptions& options) {
  if (const char* const host = std::getenv("PCP_HOST")) options.host = host;
  const char* const interval = std::getenv("PCP_INTERVAL");
  if (interval == nullptr) return {};
  const Result<void> taken = take(parse_interval(interval), options.interval);
  return taken ? taken : Error{"PCP_INTERVAL: " + taken.error().message};
}

Result<void> check(const RecordOptions& options) {
  if (!options.spans.empty() && !options.command.empty() &&
      wire::parse_capture_filter(options.command.front()))
    return Error{"--spans: " + options.command.front() +
                 " is a word of the filter: put all of them in quotes"};
  if (options.host.empty() && options.command.empty())
    return Error{"what is to be recorded? Give a command, or a host: -h HOST"};
  if (!options.host.empty() && !options.command.empty())
    return Error{"a command is recorded on this machine: leave out -h, or the command"};
  if (options.duration && options.host.empty())
    return Error{"-s: is for a host; the recording of a command ends with it"};
  if (options.waits && !options.host.empty())
    return Error{"--wait: is for a command; the recording of a host ends with -s, or ^C"};
  return {};
}

Result<void> take_options(int argc, char* const* argv, RecordOptions& options) {
  opterr = 0;
  optind = 0;  // restarts getopt
  for (;;) {
    const std::string word = argv[std::min(std::max(optind, 1), argc - 1)];
    // '+': the command begins at the first word that is no option. ':': report missing arguments.
    const int which = ::getopt_long(argc, argv, "+:h:o:qs:t:", kLongOptions.data(), nullptr);
    if (which == -1) break;
    if (which == ':') return Error{option_name(word, optopt) + ": needs an argument"};
    if (which == '?' && optopt != '?')
      return Error{option_name(word, optopt) + ": is not an option"};
    if (const Result<void> taken = take_option(which == '?' ? kHelp : which, optarg, options);
        !taken)
      return Error{option_name(word, which) + ": " + taken.error().message};
  }
  options.command.assign(argv + optind, argv + argc);
  return {};
}

}  // namespace

const char* const kRecordUsage =
    R"(Usage: pcp-trace record [OPTIONS] [--] COMMAND [ARGUMENT...]
       pcp-trace record [OPTIONS] -h HOST [-s TIME]

Runs COMMAND and records what it and its children trace, or what HOST's trace agent shows: an
archive for all of PCP's tools, and a page to look at. No agent needs to run for a COMMAND.

  -h, --host HOST      record from HOST's pmcd
  -s, --size TIME      for so long, as in 60s; otherwise until ^C
  -t, --interval TIME  between two samples (default 1s)
  -o, --output DIR     folder for the recording (default ./NAME-DATE-TIME.trace)
      --html FILE      where the page goes (default DIR/trace.html)
      --spans FILTER   keep single transactions, too: 'tag=request share=10%'; the
                       words are those of pcp-trace spans --help
      --wait           go on after COMMAND's end until its last child has left
      --json           print the summary as JSON, on standard output
  -q, --quiet          print no summary
      --archive-version N
                       2, which is read everywhere, or 3 (default as PCP is configured)
      --help           show this text

Examples:
  pcp-trace record ./app --fast
  pcp-trace record -t 100ms -o slow.trace ./app
  pcp-trace record --spans 'tag=checkout*' ./shop
  pcp-trace record -h shop1 -s 60s
  pcp-trace report              what was recorded last

The exit status is COMMAND's, or 128 and the number of the signal that has ended it; 126 if COMMAND
cannot be executed, 127 if it is not found, 125 if recording fails. See pcp-trace(1).
)";

Result<RecordOptions> parse_record_options(int argc, char* const* argv) {
  RecordOptions environment;
  if (const Result<void> taken = take_environment(environment); !taken) return taken.error();
  RecordOptions options;
  options.interval = environment.interval;
  if (const Result<void> taken = take_options(argc, argv, options); !taken) return taken.error();
  if (options.wants_help) return options;
  if (options.host.empty() && options.command.empty()) options.host = environment.host;
  if (const Result<void> checked = check(options); !checked) return checked.error();
  return options;
}

}  // namespace pcp::trace::command
