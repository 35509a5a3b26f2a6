// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/replace_file.hpp"
#include "command/show/chrome_trace.hpp"
#include "command/show/shown.hpp"
#include "command/spans/export_otlp.hpp"
#include "command/spans/recorded_traces.hpp"
#include "command/spans/spans_options.hpp"
#include "command/spans/watch.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

// All spans are in memory until the end, and viewers are slow with more.
constexpr std::size_t kMostSpans = 250'000;

struct Collected {
  std::vector<SpanTrace> traces;
  std::size_t spans = 0;

  bool is_full() const { return spans >= kMostSpans; }
  void add(SpanTrace trace) {
    spans += trace.spans.size();
    traces.push_back(std::move(trace));
  }
};

// `path` "-" is standard output.
int write(const Collected& all, const std::string& path) {
  if (all.traces.empty())
    return fail_export(path + ": not written: no transaction was captured", kExportFailed);
  const std::string document = chrome_trace(all.traces);
  if (path == "-") {
    if (const int error = write_all(STDOUT_FILENO, document); error != 0)
      return fail_export(path + ": " + std::strerror(error), kExportFailed);
  } else if (const Result<void> replaced = replace_file(path, document); !replaced) {
    return fail_export(path + ": " + replaced.error().message, kExportFailed);
  } else {
    std::cout << printed_name(path) << ": " << Shown::counted(all.traces.size(), "trace") << ", "
              << Shown::counted(all.spans, "span") << ", for ui.perfetto.dev and speedscope.app\n";
  }
  if (all.is_full())
    fail_export("stopped at the limit of " + std::to_string(kMostSpans) + " spans", kExported);
  return kExported;
}

int export_live(const ExportOptions& options) {
  Interruption interruption;
  Collected all;
  const Watched watched = watch(options, interruption, "export", [&](const SpanTrace& trace) {
    all.add(trace);
    return !all.is_full();
  });
  if (!watched.was_possible) return kExportFailed;  // watch() has reported why
  const int status = write(all, options.chrome);
  tell_of(watched, "export");
  return status;
}

int export_recorded(const ExportOptions& options) {
  Collected all;
  const auto read = read_recorded(options, Marks::None, [&](SpanTrace&& trace) {
    all.add(std::move(trace));
    return !all.is_full();
  });
  if (!read) return fail_export(read.error().message, kExportImpossible);
  if (!*read) {
    tell_that_none_are_recorded(options, "export");
    return kExportFailed;
  }
  const RecordedSpans& spans = **read;
  tell_what_is_missing(spans, "export");
  if (all.traces.empty())
    return fail_export(
        options.archives.front() + (spans.traces > 0 ? ": no trace matches the filter"
                                    : !spans.cut.empty()
                                        ? ": there is no transaction before that"
                                        : ": no transaction was captured when it was recorded"),
        kExportFailed);
  return write(all, options.chrome);
}

int write_chrome(const ExportOptions& options) {
  // Checked first, so that nobody waits in vain.
  if (options.chrome != "-")
    if (const Result<void> tried = try_to_replace_file(options.chrome); !tried)
      return fail_export(options.chrome + ": " + tried.error().message, kExportFailed);
  if (options.archives.empty()) return export_live(options);
  return guarded("export", kExportImpossible, [&] { return export_recorded(options); });
}

}  // namespace

int export_spans(int argc, char* const* argv) {
  const Result<ExportOptions> options = parse_export_options(argc, argv);
  if (!options)
    return fail_export(options.error().message + " (pcp-trace export --help)", kExportImpossible);
  if (options->wants_help) {
    std::cout << export_usage();
    return kExported;
  }
  return options->chrome.empty() ? export_otlp(*options) : write_chrome(*options);
}

}  // namespace pcp::trace::command
