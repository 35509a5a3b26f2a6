// SPDX-License-Identifier: LGPL-2.1-or-later
// The tags in a terminal, as they change: a table, and the pages of single tags. Only `Screen`
// knows ncurses, whose handlers of size changes, ^Z and SIGCONT would run in any thread. These
// signals are blocked except while a key is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/interruption.hpp"
#include "command/top/tag_feed.hpp"
#include "command/top/tag_text.hpp"

namespace pcp::trace::command {

struct TopOptions {
  std::vector<std::string> hosts;        // -h; at least one, or the archive
  std::optional<std::string> archive;    // -a
  std::optional<Duration> interval;      // -t; nothing: the archive's own
  std::optional<std::uint64_t> samples;  // -s
  std::optional<Duration> duration;      // -T
  bool is_json = false;                  // --json
  TagChoice choice;                      // --sort, -n (as text), and the pattern
  bool wants_help = false;
};

// The part of --help about keys and columns.
extern const char* const kTopKeys;

// Shows them until the user ends it. An error says what the terminal lacks.
Result<void> view_tags(const TopOptions& options, TagFeed& feed, Interruption& interruption);

}  // namespace pcp::trace::command
