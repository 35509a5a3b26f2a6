// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/top_options.hpp"

#include <cstdlib>

#include "command/arguments.hpp"

namespace pcp::trace::command {

namespace {

constexpr Duration kUsualPause = std::chrono::seconds(2);

Result<std::uint64_t> parse_least_one(const std::string& text) {
  if (const auto count = positive_number(text)) return *count;
  return Error{"\"" + text + "\" is not a number from 1 on"};
}

Result<Figure> parse_sort(const std::string& text) { return parse_column(text, true); }

std::vector<Option> table_for(TopOptions& options) {
  return {
      {"host", 'h', "HOST", "show the tags of HOST's agent; may be repeated: then their\nsums",
       adds(parse_host, options.hosts)},
      {"archive", 'a', "NAME",
       "replay this archive or folder of pcp-trace record, or an\n"
       "archive of pmlogger",
       parses(parse_archive, options.archive)},
      {"interval", 't', "TIME",
       "time between two readings (2s; of an archive: as they were\nrecorded)",
       parses(parse_time, options.interval)},
      {"samples", 's', "N", "end after showing this number of readings",
       parses(parse_least_one, options.samples)},
      {"finish", 'T', "TIME", "end after this time, such as 10s",
       parses(parse_time, options.duration)},
      {"lines", 'n', "N",
       "print tables of at most N tags each, one after the other,\n"
       "also into a terminal",
       parses(parse_least_one, options.lines)},
      {"json", 0, nullptr, "print a line of JSON for each reading", sets(options.is_json)},
      {"sort", 0, "COLUMN",
       "the greatest first: calls, rate, failed, total, mean, p50, p95,\np99, max, busy or open",
       parses(parse_sort, options.choice.sort)},
      help_option(options.wants_help),
  };
}

}  // namespace

std::string top_usage() {
  TopOptions none;
  return usage(R"(Usage: pcp-trace top [OPTION...] [PATTERN]

Shows what traced programs do now: for each tag its rate and times, the busiest
first. PATTERN chooses tags as in a shell (* ? [...]); without such signs, tags
that have this text in their name.

)",
               table_for(none), R"(
Counts, sums and rates (calls, /s, failed, total, mean, busy) cover the time
between two readings. p50 to p99 and max cover the agent's window, usually the
last minute; percentiles are of completed calls. "open" is the number of
transactions that are open now. The heading says both times.

Keys: q quits, ? shows all keys. Without a terminal it prints tables.

Status: 0 success; 1 no host has an agent for you; 2 wrong usage, or no output.

Examples:
  pcp-trace top
  pcp-trace top -h shop1 -h shop2 'checkout*'
  pcp-trace top --sort p99 -n 10 -s 1
  pcp-trace top --json -t 10s | jq -c '.tags[] | [.name, .rate]'
  pcp-trace top -a shop-20261123-101500.trace
)");
}

Result<TopOptions> parse_top_options(int argc, char* const* argv) {
  TopOptions options;
  const auto words = read_options(argc, argv, table_for(options), OtherWords::Anywhere);
  if (!words) return words.error();
  if (options.wants_help) return options;
  if (words->size() > 1)
    return Error{"\"" + (*words)[1] +
                 "\": one PATTERN at most; quote it: '*' is for the shell, too"};
  if (!words->empty())
    if (const auto set = options.choice.set_pattern(words->front()); !set) return set.error();
  if (options.archive && !options.hosts.empty())
    return Error{"-a: is for recordings; leave out -h, or -a"};
  if (options.archive) return options;
  add_usual_host(options.hosts);
  if (options.interval) return options;
  options.interval = kUsualPause;
  const char* const interval = std::getenv("PCP_INTERVAL");  // of `pcp -t TIME trace top`
  if (interval != nullptr && *interval != '\0')
    if (const auto read = parses(parse_time, options.interval)(interval); !read)
      return Error{"PCP_INTERVAL: " + read.error().message};
  return options;
}

}  // namespace pcp::trace::command
