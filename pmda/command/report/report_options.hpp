// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of `pcp trace report`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/run/label_choice.hpp"
#include "command/show/condition.hpp"
#include "command/show/summary_table.hpp"

namespace pcp::trace::command {

struct ReportOptions {
  std::vector<std::string> archives;  // or folders; none: the newest folder here
  std::vector<std::string> base;      // --compare, the older ones; none: no comparison
  bool are_runs = false;              // each archive is a run of its own
  std::optional<std::string> per;     // --per: sums are per call of this tag
  std::vector<Condition> conditions;  // --fail-if
  std::string page;                   // --html; empty: none
  std::string junit;                  // --junit; empty: none
  bool is_json = false;               // --json
  bool is_markdown = false;           // --markdown
  LabelChoice choice;                 // --by, --where, --filter
  TableChoice table;                  // --top, --all, --sort
  std::optional<Ending> times_of;     // --completed, --failed

  // -S, -T, -A, -O, as typed.
  std::optional<std::string> start;
  std::optional<std::string> finish;
  std::optional<std::string> align;
  std::optional<std::string> origin;

  std::string time_zone;           // -Z
  bool has_archives_zone = false;  // -z

  bool wants_help = false;
};

// An error names the argument and the valid values.
Result<ReportOptions> parse_report_options(int argc, char* const* argv);

std::string report_usage();

}  // namespace pcp::trace::command
