// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of `pcp trace top`, and what it prints without a terminal.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/descriptor.hpp"
#include "command/arguments.hpp"
#include "command/interruption.hpp"
#include "command/pcp/archive_source.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/pcp/recording_folder.hpp"
#include "command/run/archive_reader.hpp"
#include "command/top/top_view.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

enum TopStatus { kTopDone = 0, kNoAgent = 1, kTopWrongUsage = 2 };

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
       parses(parse_count, options.samples)},
      {"finish", 'T', "TIME", "end after this time, such as 10s",
       parses(parse_time, options.duration)},
      {"lines", 'n', "N",
       "print tables of at most N tags each, one after the other,\n"
       "also into a terminal",
       parses(parse_count, options.choice.most)},
      {"json", 0, nullptr, "print a line of JSON for each reading", sets(options.is_json)},
      {"sort", 0, "COLUMN",
       "the greatest first: calls, rate, failed, total, mean, p50, p95,\np99, max, busy or open",
       parses([](const std::string& text) { return parse_column(text, true); },
              options.choice.sort)},
      help_option(options.wants_help),
  };
}

std::string top_usage() {
  TopOptions none;
  return usage(R"(Usage: pcp-trace top [OPTION...] [PATTERN]

Shows what traced programs do now: for each tag its rate and times, the busiest
first. PATTERN chooses tags as in a shell (* ? [...]); without such signs, tags
that have this text in their name. Without a terminal it prints tables.

)",
               table_for(none), "\n") +
         kTopKeys + R"(
Status: 0 success; 1 no host has an agent for you; 2 wrong usage, or no output.

Examples:
  pcp-trace top
  pcp-trace top -h shop1 -h shop2 'checkout*'
  pcp-trace top --sort p99 -n 10 -s 1
  pcp-trace top --json -t 10s | jq -c '.tags[] | [.name, .rate]'
  pcp-trace top -a shop-20261123-101500.trace
)";
}

Result<TopOptions> parse_top_options(int argc, char* const* argv) {
  TopOptions options;
  if (const char* const interval = std::getenv("PCP_INTERVAL"))  // of `pcp -t TIME trace top`
    if (const auto read = parses(parse_time, options.interval)(interval); !read)
      return Error{"PCP_INTERVAL: " + read.error().message};
  const auto words = read_options(argc, argv, table_for(options), OtherWords::Anywhere);
  if (!words) return words.error();
  if (options.wants_help) return options;
  if (words->size() > 1)
    return Error{"\"" + (*words)[1] +
                 "\": one PATTERN at most; quote it: '*' is for the shell, too"};
  if (!words->empty()) {
    if (is_archive(words->front())) return Error{"to replay a recording: -a " + words->front()};
    if (const auto set = options.choice.set_pattern(words->front()); !set) return set.error();
  }
  if (options.archive && !options.hosts.empty())
    return Error{"-a: is for recordings; leave out -h, or -a"};
  if (options.archive) return options;
  add_usual_host(options.hosts);
  if (!options.interval) options.interval = std::chrono::seconds(2);
  return options;
}

int fail(const Error& why) {
  complain("top", why.message);
  return kTopWrongUsage;
}

int print(const TopOptions& options, TagFeed& feed, Interruption& interruption) {
  const Shown shown(terminal_of(STDOUT_FILENO));
  std::vector<std::string> told;
  std::string none;  // see no_match()
  std::uint64_t printed = 0;
  do {
    const std::optional<Recent> recent = feed.take();
    std::vector<std::string> troubles = feed.troubles();
    if (recent) none = no_match(recent->tags, options.choice);
    if (!none.empty()) troubles.push_back(none);
    for (const std::string& each : troubles)
      if (std::ranges::find(told, each) == told.end()) complain("top", each);
    told = std::move(troubles);
    if (recent) {
      const std::string text = options.is_json ? recent_json(*recent, options.choice)
                                               : recent_text(*recent, options.choice, shown);
      const int error = write_all(STDOUT_FILENO, text);
      if (error != 0 && error != EPIPE)  // the reader may have left, like `| head`
        return fail({std::string("cannot write: ") + std::strerror(error)});
      if (error != 0 || ++printed == options.samples) return kTopDone;
    }
  } while (!feed.is_over() && !interruption.comes_before(feed.due(), {feed.descriptor()}));
  return printed > 0 || options.archive ? kTopDone : kNoAgent;
}

int show(const TopOptions& options, bool is_text, std::unique_ptr<SampleSource> archive) {
  Interruption interruption;
  if (options.duration) interruption.come_at(steady_now() + *options.duration);
  TagFeed feed(options.hosts, options.interval, std::move(archive));
  if (is_text) return print(options, feed, interruption);
  const Result<void> viewed = view_tags(options, feed, interruption);
  return viewed ? kTopDone : fail(viewed.error());
}

// PCP's library does not survive each damage, and may spoil what is read later. So a child reads
// the archive, as for a report; it also prints texts, but does not get the terminal.
int replay(const TopOptions& options, bool is_text) {
  const Result<std::string> path = find_archive(*options.archive);
  if (!path) return fail(path.error());
  const auto show_it = [&]() -> int {
    Result<ArchiveSource> source = ArchiveSource::open(*path);
    if (!source) return fail(source.error());
    return show(options, is_text, std::make_unique<ArchiveSource>(*std::move(source)));
  };
  const int status = guarded("top", kTopWrongUsage, [&]() -> int {
    const Result<Totals> totals = read_totals({.archives = {*path}, .window = {}, .time_zone = {}});
    if (!totals) return fail(totals.error());
    return is_text ? show_it() : kTopDone;
  });
  return is_text || status != kTopDone ? status : show_it();
}

}  // namespace

int top(int argc, char* const* argv) {
  Result<TopOptions> options = parse_top_options(argc, argv);
  if (!options) return fail({options.error().message + " (pcp-trace top --help)"});
  if (options->wants_help) {
    std::cout << top_usage();
    return kTopDone;
  }
  std::signal(SIGPIPE, SIG_IGN);
  settle_environment();
  const bool is_text = options->is_json || options->choice.most != kAllTags ||
                       ::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0;
  if (!options->archive) return show(*options, is_text, nullptr);
  if (is_text) options->interval = Duration::zero();  // all at once
  return replay(*options, is_text);
}

}  // namespace pcp::trace::command
