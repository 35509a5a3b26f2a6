// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/export.hpp"

#include <fcntl.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "collector/engine/descriptor.hpp"
#include "command/spans/chrome_trace.hpp"
#include "command/spans/spans_options.hpp"
#include "command/spans/watch.hpp"
#include "command/write_all.hpp"

namespace pcp::trace::command {

namespace {

enum ExportStatus { kExported = 0, kExportFailed = 1, kExportWrongUsage = 2 };

// All of them are in memory until the end, and no viewer is glad of more.
constexpr std::size_t kMostSpans = 250'000;

int fail(const std::string& why, ExportStatus status) {
  std::cerr << "pcp-trace export: " << why << std::endl;
  return status;
}

int write_chrome(const ExportOptions& options) {
  // First of all: should that not work, nobody has to wait for it.
  const agent::Descriptor file(
      ::open(options.chrome.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return fail(options.chrome + ": " + std::strerror(errno), kExportFailed);
  Interruption interruption;
  std::vector<SpanTrace> traces;
  std::size_t spans = 0;
  const Watched watched = watch(options, interruption, "export", [&](const SpanTrace& trace) {
    traces.push_back(trace);
    spans += trace.spans.size();
    return spans < kMostSpans;
  });
  if (const int error = write_all(file.get(), chrome_trace(traces)); error != 0)
    return fail(options.chrome + ": " + std::strerror(error), kExportFailed);
  tell_of(watched, "export");
  if (spans >= kMostSpans)
    fail("ended early: " + std::to_string(kMostSpans) + " spans are the most", kExported);
  return watched.was_possible ? kExported : kExportFailed;
}

}  // namespace

int export_spans(int argc, char* const* argv) {
  std::setlocale(LC_CTYPE, "");
  const Result<ExportOptions> options = parse_export_options(argc, argv);
  if (!options)
    return fail(options.error().message + " (pcp-trace export --help)", kExportWrongUsage);
  if (options->wants_help) {
    std::cout << kExportUsage;
    return kExported;
  }
  return write_chrome(*options);
}

}  // namespace pcp::trace::command
