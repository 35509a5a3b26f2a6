// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of `pcp trace record`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collector/engine/types.hpp"
#include "command/pcp/archive_records.hpp"

namespace pcp::trace::command {

// The limit of a filter that names none, of each process. So many spans wait in the collector's
// memory for a second without loss; the archive's room decides how many are kept.
inline constexpr std::uint32_t kMostSpansASecond = 100'000;

struct RecordOptions {
  std::string folder;                     // -o; empty: a new one, named after the command or host
  std::string page;                       // --html; empty: in the folder
  std::optional<Duration> interval;       // -t; nothing: sampling_interval.hpp
  std::string host;                       // -h; empty: a command is recorded
  std::optional<Duration> duration;       // -s, of a host
  std::optional<ArchiveVersion> version;  // --archive-version; default: PCP's configuration
  std::string typed_spans;                // --spans; empty: none
  std::string spans;                      // the same, canonical
  std::vector<std::string> split;         // --split
  std::vector<std::string> also;          // --also
  bool waits = false;                     // --wait
  bool is_json = false;                   // --json
  bool is_quiet = false;                  // --quiet
  std::vector<std::string> command;

  bool wants_help = false;
};

// An error names the argument and the valid values.
Result<RecordOptions> parse_record_options(int argc, char* const* argv);

std::string record_usage();

// A hint if there is no such command, and it is a filter without its option; else empty.
std::string hint_of_filter(const std::vector<std::string>& command);

}  // namespace pcp::trace::command
