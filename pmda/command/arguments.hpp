// SPDX-License-Identifier: LGPL-2.1-or-later
// Parsers of the command's arguments, and its --help.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "base/result.hpp"

namespace pcp::trace::command {

inline Option help_option(bool& wants_help) {
  return {"help", '?', nullptr, "show this text", sets(wants_help), true};
}

// The number that is the whole text; nothing: it is none, or 0, or above `most`.
std::optional<std::uint64_t> positive_number(
    std::string_view text, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

Result<std::uint64_t> parse_count(const std::string& text);
inline Result<std::string> parse_text(const std::string& text) { return text; }
Result<std::string> parse_file(const std::string& text);
Result<std::string> parse_archive(const std::string& text);
// Refuses a path: PCP's library would open it as an archive.
Result<std::string> parse_host(const std::string& text);
Result<Duration> parse_time(const std::string& text);

// Without a host: the one of `pcp -h HOST trace WORD`, which is in the environment, or this one.
void add_usual_host(std::vector<std::string>& hosts);

// Converts times to PCP's units: PCP's library takes 500ms for 500 minutes, and does not know us
// and ns. Letters may be upper case.
std::string in_pcps_words(std::string_view text);

// Words as typed, with blanks between them.
std::string joined(const std::vector<std::string>& words);

}  // namespace pcp::trace::command
