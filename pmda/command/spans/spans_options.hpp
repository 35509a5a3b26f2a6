// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of `pcp trace spans`, and its common part with `pcp trace export`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collector/engine/types.hpp"
#include "command/spans/trace_filter.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

// Where to watch, which spans, and how long.
struct WatchOptions {
  std::vector<std::string> hosts;       // -h; at least one
  std::vector<std::string> archives;    // -a, and words; instead of hosts
  wire::CaptureFilter filter;           // of the words for programs; default: every tag
  TraceFilter wanted;                   // of the others
  std::string typed_filter;             // as typed
  bool has_filter = false;              // some words of it were typed
  std::optional<std::uint64_t> traces;  // -s
  std::optional<Duration> duration;     // -T
  bool wants_help = false;
};

struct SpansOptions : WatchOptions {
  bool is_json = false;     // --json
  bool shows_open = false;  // --open
};

struct ExportOptions : WatchOptions {
  std::string chrome;               // --chrome: the file
  std::optional<std::string> otlp;  // --otlp: the server's address
  enum class Only { Both, Metrics, Spans } only = Only::Both;
  std::optional<Duration> interval;  // -t: between two readings of metrics
  bool is_once = false;              // --once
};

// An error names the argument and the valid values.
Result<SpansOptions> parse_spans_options(int argc, char* const* argv);
Result<ExportOptions> parse_export_options(int argc, char* const* argv);

std::string spans_usage();
std::string export_usage();

}  // namespace pcp::trace::command
