// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "base/descriptor.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/show/trace_json.hpp"
#include "command/show/waterfall.hpp"
#include "command/spans/open_transactions.hpp"
#include "command/spans/recorded_traces.hpp"
#include "command/spans/spans_options.hpp"
#include "command/spans/watch.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

enum SpansStatus { kSpansDone = 0, kNoSpans = 1, kSpansWrongUsage = 2 };

// False if the reader has left, like `| head`.
bool print(const std::string& text) { return write_all(STDOUT_FILENO, text) == 0; }

int show_traces(const SpansOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  Interruption interruption;
  const Shown shown(terminal_of(STDOUT_FILENO));
  if (::isatty(STDERR_FILENO) != 0)
    std::cerr << "pcp-trace spans: waiting for "
              << shown.name(options.typed_filter, shown.terminal().columns) << " (^C ends)"
              << std::endl;
  const Watched watched = watch(options, interruption, "spans", [&](const SpanTrace& trace) {
    return print(options.is_json ? trace_json(trace) : waterfall(trace, shown) + "\n");
  });
  tell_of(watched, "spans");
  return watched.was_possible ? kSpansDone : kNoSpans;
}

int show_recorded(const SpansOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  const Shown shown(terminal_of(STDOUT_FILENO));
  std::uint64_t matching = 0;
  const auto read = read_recorded(options, Marks::Torn, [&](SpanTrace&& trace) {
    ++matching;
    if (options.wanted.captured) trace.slow_span = slow_span(trace, *options.wanted.captured);
    return print(options.is_json ? trace_json(trace) : waterfall(trace, shown) + "\n");
  });
  if (!read) {
    complain("spans", read.error().message);
    return kSpansWrongUsage;
  }
  if (!*read) {
    tell_that_none_are_recorded(options, "spans");
    return kNoSpans;
  }
  tell_what_is_missing(**read, "spans");
  if (matching == 0)
    complain("spans", "no trace matches, of " + Shown::counted((*read)->traces, "recorded trace"));
  return kSpansDone;
}

int show_open(const SpansOptions& options) {
  Interruption interruption;
  const OpenTransactions open = read_open_transactions(options.hosts, options.filter, interruption);
  for (const std::string& trouble : open.troubles) complain("spans", trouble);
  print(options.is_json ? open_json(open) : open_table(open, Shown(terminal_of(STDOUT_FILENO))));
  return open.troubles.size() < options.hosts.size() ? kSpansDone : kNoSpans;
}

}  // namespace

int spans(int argc, char* const* argv) {
  const Result<SpansOptions> options = parse_spans_options(argc, argv);
  if (!options) {
    complain("spans", options.error().message + " (pcp-trace spans --help)");
    return kSpansWrongUsage;
  }
  if (options->wants_help) {
    std::cout << spans_usage();
    return kSpansDone;
  }
  if (!options->archives.empty())
    return guarded("spans", kSpansWrongUsage, [&] { return show_recorded(*options); });
  return options->shows_open ? show_open(*options) : show_traces(*options);
}

}  // namespace pcp::trace::command
