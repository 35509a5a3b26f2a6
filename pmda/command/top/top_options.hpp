// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of `pcp trace top`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "command/top/tag_list.hpp"

namespace pcp::trace::command {

struct TopOptions {
  std::vector<std::string> hosts;        // -h; at least one, or the archive
  std::optional<std::string> archive;    // -a
  std::optional<Duration> interval;      // -t; nothing: the archive's own
  std::optional<std::uint64_t> samples;  // -s
  std::optional<Duration> duration;      // -T
  std::optional<std::size_t> lines;      // -n: of each table, as text
  bool is_json = false;                  // --json
  TagChoice choice;                      // --sort, and the pattern
  bool wants_help = false;
};

// An error names the argument and the valid values.
Result<TopOptions> parse_top_options(int argc, char* const* argv);

std::string top_usage();

}  // namespace pcp::trace::command
