// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/spans_options.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "command/arguments.hpp"
#include "command/otlp/endpoint.hpp"

namespace pcp::trace::command {

namespace {

Result<std::uint64_t> parse_traces(const std::string& text) {
  if (const auto count = positive_number(text)) return *count;
  return Error{"\"" + text + "\" is not a number of traces, from 1 on"};
}

std::vector<Option> common_table(WatchOptions& options) {
  return {
      {"host", 'h', "HOST",
       "read from HOST's pmcd; may be repeated, for\n"
       "traces that pass through several hosts",
       adds(parse_host, options.hosts)},
      {"samples", 's', "N", "end after this number of traces",
       parses(parse_traces, options.traces)},
      {"finish", 'T', "TIME", "end after this time, such as 10s (default: at ^C)",
       parses(parse_time, options.duration)},
      {"archive", 'a', "NAME",
       "read this archive or folder of pcp-trace record --spans;\n"
       "may be repeated",
       adds(parse_archive, options.archives)},
      help_option(options.wants_help),
  };
}

std::vector<Option> table_for(SpansOptions& options) {
  std::vector<Option> table = common_table(options);
  table.insert(table.end() - 1,
               {{"json", 0, nullptr, "print a line of JSON for each trace", sets(options.is_json)},
                {"open", 0, nullptr, "show the transactions that are open now, then end",
                 sets(options.shows_open)}});
  return table;
}

Result<ExportOptions::Only> parse_only(const std::string& text) {
  if (text == "metrics") return ExportOptions::Only::Metrics;
  if (text == "spans") return ExportOptions::Only::Spans;
  return Error{"\"" + text + "\" is unknown; there are metrics and spans"};
}

std::vector<Option> table_for(ExportOptions& options) {
  std::vector<Option> table = common_table(options);
  table.insert(table.begin(),
               {{"chrome", 0, "FILE",
                 "write Chrome's trace format (JSON) into FILE; - is\n"
                 "standard output",
                 parses(parse_file, options.chrome)},
                {"otlp", 0, "URL",
                 "send to the OpenTelemetry server at this address, such\n"
                 "as http://localhost:4318 (HTTP; 4317 is gRPC); may be\n"
                 "named by the variable OTEL_EXPORTER_OTLP_ENDPOINT\n"
                 "instead",
                 parses(parse_text, options.otlp)},
                {"only", 0, "WHAT", "with --otlp: only metrics, or only spans",
                 parses(parse_only, options.only)},
                {"interval", 't', "TIME", "with --otlp: time between two readings of metrics (10s)",
                 parses(parse_time, options.interval)},
                {"once", 0, nullptr, "with --otlp: send the metrics as they are now, then end",
                 sets(options.is_once)}});
  return table;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<void> take_own_words(WatchOptions& options, std::vector<std::string>& words) {
  return options.wanted.take_from(words);
}

// Other words are further archives, as in -a *.trace.
Result<void> take_archives(WatchOptions& options, std::vector<std::string>& words) {
  if (options.archives.empty()) {
    for (const std::string& word : words)
      if (!wire::parse_capture_filter(word) && is_there(word))
        return Error{"to read a recording: -a " + word};
    return {};
  }
  if (!options.hosts.empty()) return Error{"-a: is for recordings; leave out -h, or -a"};
  if (options.duration) return Error{"-a: is for recordings; leave out -T"};
  std::vector<std::string> filter;
  for (std::string& word : words) {
    if (word.starts_with("limit=") || word.starts_with("kind="))
      return Error{"-a: limit= and kind= are for programs; leave out \"" + word + "\""};
    const bool is_of_filter = word.find('=') != std::string::npos && !is_there(word);
    if (word.find_first_of("=./") == std::string::npos && !is_there(word) &&
        !is_there(word + ".index"))
      return Error{
          word +
          ": is no recording here, and no word of a filter; those are failed, "
          "wanted, died, trace=ID, note.KEY=PATTERN, label.KEY=PATTERN, tag=PATTERN and others"};
    (is_of_filter ? filter : options.archives).push_back(std::move(word));
  }
  words = std::move(filter);
  return {};
}

Result<void> check(const ExportOptions& options, const std::vector<std::string>&) {
  using Only = ExportOptions::Only;
  if (options.otlp && !options.chrome.empty())
    return Error{"--otlp: leave out --chrome, or --otlp"};
  if (!options.chrome.empty() &&
      (options.only != Only::Both || options.interval || options.is_once))
    return Error{"--only, -t and --once are for --otlp"};
  if (options.only == Only::Spans && (options.interval || options.is_once))
    return Error{"--only spans: -t and --once are for metrics; leave them out"};
  if (!options.archives.empty() && (options.interval || options.is_once))
    return Error{"-a: sends what is recorded, then ends; leave out -t and --once"};
  return {};
}
Result<void> check(const SpansOptions& options, const std::vector<std::string>& words) {
  if (!options.shows_open) return {};
  if (options.traces || options.duration)
    return Error{"--open: shows what is open now, and ends: leave out -s and -T"};
  if (!options.archives.empty()) return Error{"--open: shows what is open now: leave out -a"};
  for (const std::string& word : words)
    if (!word.starts_with("tag="))
      return Error{"--open: takes only tag=PATTERN: leave out \"" + word + "\""};
  return {};
}

template <typename Options>
Result<Options> parse(int argc, char* const* argv) {
  Options options;
  auto words = read_options(argc, argv, table_for(options), OtherWords::Anywhere);
  if (!words) return words.error();
  if (options.wants_help) return options;
  if (const Result<void> checked = check(options, *words); !checked) return checked.error();
  const std::string typed = joined(*words);
  const std::size_t typed_words = words->size();
  if (const Result<void> taken = take_own_words(options, *words); !taken) return taken.error();
  options.has_filter = words->size() < typed_words;
  if (const Result<void> taken = take_archives(options, *words); !taken) return taken.error();
  options.has_filter |= !words->empty();
  options.typed_filter = typed.empty() ? "tag=*" : typed;
  Result<wire::CaptureFilter> filter =
      wire::parse_capture_filter(words->empty() ? "tag=*" : joined(*words));
  if (!filter)
    return Error{filter.error().message +
                 "; here also trace=ID, note.KEY=PATTERN and label.KEY=PATTERN"};
  options.filter = *std::move(filter);
  if (options.archives.empty()) {
    add_usual_host(options.hosts);
    options.filter.reasons = options.wanted.reasons;
  } else {
    options.wanted.captured = options.filter;
  }
  return options;
}

}  // namespace

std::string spans_usage() {
  SpansOptions none;
  return usage(R"(Usage: pcp-trace spans [OPTION...] [FILTER WORD...]
       pcp-trace spans -a RECORDING... [--json] [-s N] [FILTER WORD...]
       pcp-trace spans --open [-h HOST]... [--json] [tag=PATTERN]

Shows single transactions as they happen: each trace as a tree, with the
duration and the process of each part. Programs capture transactions that match
the filter while this command runs, and none at other times. With -a it shows
the traces of recordings that match.

)",
               table_for(none), R"(
Words of the filter; a transaction must match all of them (default tag=*):
  tag=PATTERN[,PATTERN...]  its tag matches a pattern as in a shell (* ? [...])
  slower=TIME               it took at least this time (10ms)
  failed                    it or a transaction inside it failed
  wanted                    its program wants it, or one inside it: pmtrace_want()
  died                      it or a transaction inside it was open when its process
                            died without a goodbye: killed, or crashed
  share=PERCENT             its trace belongs to this share of all traces: 1%
  limit=N/s                 each process sends about N spans a second (1000/s);
                            beyond that it drops whole traces
  service=PATTERN  process=PATTERN  pid=N
                            its program
  kind=point,observe,counter
                            these events, too; transactions are always there
  trace=ID                  its trace's id begins with these digits
  note.KEY=PATTERN          it or a transaction inside it has such a note
  label.KEY=PATTERN         likewise, such a label at its end
The last three are decided here, at the end of a trace; record does not take
them.

With slower=, failed, wanted or died a trace comes whole, with the parts in all
programs, and no other trace comes. The first program must begin the trace: the
filter matches its outermost transaction, or PCP_TRACE_IDS=always is set there.
For "slow or failed" run two commands. Otherwise a transaction that matches comes
with all transactions below it in its process, and the filter must also match in
the other processes of the trace: tag=order,reserve. To get whole traces through
all programs, name no tag: share=10%.

A program that starts later gets the filter when it connects with its first
call. Transactions that it begins by handle before that are neither captured nor
counted as missed. To capture from the first call on, put the filter into the
program's environment: PCP_TRACE_CAPTURE.

Status: 0 success; 1 no host has spans for you; 2 wrong usage.

Examples:
  pcp-trace spans
  pcp-trace spans 'tag=order*' kind=point
  pcp-trace spans -h unix:/run/pcp/pmcd.socket slower=100ms
  pcp-trace spans -h shop1 -h shop2 'tag=checkout*' share=1%
  pcp-trace spans --json -T 10s | jq -r 'select(.duration_ns > 1e7).trace'
  pcp-trace spans -a shop-20261123-101500.trace failed 'tag=checkout*'
  pcp-trace spans --open
)");
}

std::string export_usage() {
  ExportOptions none;
  return usage(R"(Usage: pcp-trace export --chrome FILE [OPTION...] [FILTER WORD...]
       pcp-trace export --otlp URL [OPTION...] [FILTER WORD...]
       pcp-trace export --chrome FILE|--otlp URL -a ARCHIVE... [FILTER WORD...]

Writes single transactions, as `pcp-trace spans` shows them, into a file for
ui.perfetto.dev, speedscope.app or chrome://tracing; or sends the metrics of all
tags, and the spans that match a filter, to a server of OpenTelemetry, by
OTLP/HTTP.

)",
               table_for(none), R"(
Words of the filter: see pcp-trace spans --help. With --otlp they choose the
spans; without any, only metrics are sent. From archives all is sent that is
recorded and matches.

Status: 0 success; 1 nothing was captured (--chrome, or in the archives), no
host or archive has data for you, no recorded trace matches, the file cannot be
written and stays unchanged, or the server did not accept all; 2 wrong usage.

Examples:
  pcp-trace export --chrome orders.json -T 10s 'tag=order*'
  pcp-trace export --chrome orders.json -a shop-20261123-101500.trace
  pcp-trace export --otlp http://localhost:4318 --once
  pcp-trace export --otlp http://localhost:4318 share=1%
  pcp-trace export --otlp http://localhost:9090/api/v1/otlp --only metrics
)");
}

Result<SpansOptions> parse_spans_options(int argc, char* const* argv) {
  return parse<SpansOptions>(argc, argv);
}

Result<ExportOptions> parse_export_options(int argc, char* const* argv) {
  Result<ExportOptions> options = parse<ExportOptions>(argc, argv);
  if (options && options->chrome.empty() && !options->otlp && !options->wants_help &&
      !otlp::names_server(::getenv))
    return Error{"name the output file, --chrome FILE, or a server, --otlp URL"};
  return options;
}

}  // namespace pcp::trace::command
