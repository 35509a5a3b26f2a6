// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/record_options.hpp"

#include <cstdlib>
#include <sstream>

#include "collector/spans/capture_table.hpp"
#include "command/arguments.hpp"
#include "command/show/shown.hpp"
#include "metrics/parse_argument.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

namespace {

constexpr Duration kShortestInterval = std::chrono::milliseconds(10);

Result<Duration> parse_interval(const std::string& text) {
  Result<Duration> interval = parse_time(text);
  if (interval && *interval < kShortestInterval)
    return Error{"\"" + text + "\" is shorter than the 10 msec between two samples"};
  return interval;
}

Result<std::string> parse_folder(const std::string& text) {
  return text.empty() ? Result<std::string>(Error{"needs a folder"}) : text;
}

Result<ArchiveVersion> parse_version(const std::string& text) {
  if (text == "2") return ArchiveVersion::V2;
  if (text == "3") return ArchiveVersion::V3;
  return Error{"\"" + text +
               "\" is not 2, which all of PCP's releases read, or 3, which those from 6 on read"};
}

Result<std::string> parse_filter(const std::string& text) {
  const Result<std::string> canonical = agent::canonical_filter(text);
  std::istringstream words(text);
  for (std::string word; !canonical && words >> word;)
    if (word.starts_with("note.") || word.starts_with("label."))
      return Error{printed_name(word) +
                   ": is decided at the end of a trace: record without it, then pcp-trace spans -a "
                   "RECORDING " +
                   printed_name(word)};
  return canonical ? Result<std::string>(text) : canonical.error();
}

Result<std::vector<std::string>> parse_metrics(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream words(text + ",");
  for (std::string name; std::getline(words, name, ',');) {
    if (name.empty() || name == ".*")
      return Error{"\"" + text + "\" is not a list of metrics, such as mem.util.free,disk.dev"};
    names.push_back(name);
  }
  return names;
}

// The second host is refused: without it the recording would look whole.
auto one_host(std::string& host) {
  return [&host](const char* argument) -> Result<void> {
    if (!host.empty())
      return Error{"one host has one recording: start record for each, and report all folders"};
    return parses(parse_host, host)(argument);
  };
}

// A host's agent has the usual limit. A long filter may have no room for the greater one.
std::string canonical_spans(const RecordOptions& options) {
  if (options.typed_spans.empty()) return "";
  if (options.host.empty())
    if (Result<std::string> all = agent::canonical_filter(options.typed_spans, kMostSpansASecond))
      return *std::move(all);
  return *agent::canonical_filter(options.typed_spans);
}

std::vector<Option> table_for(RecordOptions& options) {
  return {
      {"host", 'h', "HOST", "record from HOST's pmcd", one_host(options.host)},
      {"size", 's', "TIME", "end after this time, such as 60s (default: at ^C)",
       parses(parse_time, options.duration)},
      {"interval", 't', "TIME",
       "time between two samples (default: from 100ms on,\nit grows with the run; of a host 1s)",
       parses(parse_interval, options.interval)},
      {"output", 'o', "DIR", "folder for the recording (default ./NAME-DATE-TIME.trace)",
       parses(parse_folder, options.folder)},
      {"html", 0, "FILE", "file of the page (default DIR/trace.html)",
       parses(parse_file, options.page)},
      {"spans", 0, "FILTER",
       "also keep single transactions: 'tag=request share=10%';\n"
       "pcp-trace spans --help lists the words, without\ntrace, note.KEY and label.KEY",
       parses(parse_filter, options.typed_spans)},
      {"split", 0, "LABELS", "keep tags apart by these labels of programs, such as rank",
       parses(agent::parse_keys, options.split)},
      {"also", 0, "METRICS",
       "also record these metrics of PCP, with all below:\n"
       "kernel.all.cpu.user,mem.util.free,disk.dev",
       appends(parse_metrics, options.also)},
      {"wait", 0, nullptr, "wait until the last child of COMMAND has ended", sets(options.waits)},
      {"json", 0, nullptr, "print the summary as JSON, on standard output", sets(options.is_json)},
      {"quiet", 'q', nullptr, "print no summary", sets(options.is_quiet)},
      {"archive-version", 0, "N",
       "2, which all releases of PCP read, or 3 (default: PCP's setting)",
       parses(parse_version, options.version)},
      help_option(options.wants_help),
  };
}

Result<void> check(const RecordOptions& options) {
  if (!options.spans.empty() && !options.command.empty() &&
      wire::parse_capture_filter(options.command.front()))
    return Error{"--spans: " + options.command.front() +
                 " is a word of the filter: quote the whole filter"};
  if (options.host.empty() && options.command.empty())
    return Error{"nothing to record: give a command, or a host with -h HOST"};
  if (!options.host.empty() && !options.command.empty())
    return Error{"a command is recorded on this machine: leave out -h, or the command"};
  if (options.duration && options.host.empty())
    return Error{"-s: is for a host; the recording of a command ends with it"};
  if (!options.split.empty() && !options.host.empty())
    return Error{"--split: is for a command; that host's agent decides, by its own --split"};
  if (options.waits && !options.host.empty())
    return Error{"--wait: is for a command; the recording of a host ends with -s, or ^C"};
  return {};
}

}  // namespace

std::string record_usage() {
  RecordOptions none;
  return usage(R"(Usage: pcp-trace record [OPTIONS] [--] COMMAND [ARGUMENT...]
       pcp-trace record [OPTIONS] -h HOST [-s TIME]

Runs COMMAND and records what it and its children trace, or what HOST's trace agent shows: an
archive for all of PCP's tools, and a page to look at. No agent needs to run for a COMMAND.

)",
               table_for(none), R"(
Examples:
  pcp-trace record ./app --fast
  pcp-trace record -t 100ms -o slow.trace ./app
  pcp-trace record --spans 'tag=checkout*' ./shop
  pcp-trace record --split=rank mpirun -n 8 ./solver
  pcp-trace record --also kernel.all.cpu,mem.util.free,disk.dev ./app
  pcp-trace record -h shop1 -s 60s
  pcp-trace report              shows the newest recording

The exit status is COMMAND's, or 128 plus the number of the signal that ended it; 126 if COMMAND
cannot be executed, 127 if COMMAND is not found, 125 if the recording fails.
See pcp-trace-record(1).
)");
}

std::string hint_of_filter(const std::vector<std::string>& command) {
  if (!wire::parse_capture_filter(command.front())) return "";
  return "; it is a word of a filter: put --spans before it, and the command behind it";
}

Result<RecordOptions> parse_record_options(int argc, char* const* argv) {
  RecordOptions options;
  // `pcp -h HOST -t TIME trace record` arrives in the environment.
  const char* const host = std::getenv("PCP_HOST");
  if (const char* const interval = std::getenv("PCP_INTERVAL"))
    if (const auto read = parses(parse_interval, options.interval)(interval); !read)
      return Error{"PCP_INTERVAL: " + read.error().message};
  auto others = read_options(argc, argv, table_for(options), OtherWords::Behind);
  if (!others) return others.error();
  if (options.wants_help) return options;
  options.command = *std::move(others);
  if (host != nullptr && options.host.empty() && options.command.empty()) options.host = host;
  options.spans = canonical_spans(options);
  if (const Result<void> checked = check(options); !checked) return checked.error();
  return options;
}

}  // namespace pcp::trace::command
