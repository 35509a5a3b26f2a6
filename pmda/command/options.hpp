// SPDX-License-Identifier: LGPL-2.1-or-later
// The options of a command line, as a table. getopt and --help read it, and the shell's completion
// reads --help.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace pcp::trace::command {

struct Option {
  const char* name;
  char letter;           // 0: none
  const char* argument;  // its name in --help; null: the option has none
  const char* help;      // '\n' begins a line; null: refused, with the error that store() returns
  std::function<Result<void>(const char*)> store;
};

// Values of `store`. The target must outlive the table.
inline auto sets(bool& target) {
  return [&target](const char*) -> Result<void> {
    target = true;
    return {};
  };
}

template <typename Parse, typename Target>
auto parses(Parse parse, Target& target) {
  return [parse, &target](const char* argument) -> Result<void> {
    auto parsed = parse(argument);
    if (!parsed) return parsed.error();
    target = *std::move(parsed);
    return {};
  };
}

// For an option that may be repeated.
template <typename Parse, typename Target>
auto adds(Parse parse, std::vector<Target>& targets) {
  return [parse, &targets](const char* argument) {
    return parses(parse, targets.emplace_back())(argument);
  };
}

// The same for an argument that is a list.
template <typename Parse, typename Target>
auto appends(Parse parse, std::vector<Target>& targets) {
  return [parse, &targets](const char* argument) {
    std::vector<Target> more;
    Result<void> parsed = parses(parse, more)(argument);
    targets.insert(targets.end(), more.begin(), more.end());
    return parsed;
  };
}

inline auto refuses(std::string why) {
  return [why = std::move(why)](const char*) -> Result<void> { return Error{why}; };
}

inline Option help_option(bool& wants_help) {
  return {"help", '?', nullptr, "show this text", sets(wants_help)};
}

// The number that is the whole text; nothing: it is none, or 0, or above `most`.
std::optional<std::uint64_t> positive_number(
    std::string_view text, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// Parsers of arguments.
inline Result<std::string> parse_text(const std::string& text) { return text; }
Result<std::string> parse_file(const std::string& text);
Result<std::string> parse_archive(const std::string& text);
// Refuses a path: PCP's library would open it as an archive.
Result<std::string> parse_host(const std::string& text);
Result<Duration> parse_time(const std::string& text);

// Converts times to PCP's units: PCP's library takes 500ms for 500 minutes, and does not know us
// and ns. Letters may be upper case.
std::string in_pcps_words(std::string_view text);

enum class OtherWords { Anywhere, Behind };  // Behind: options end at the first one

// Stores the options, and returns all other words. An error begins with the option's name. --help
// ends the reading. `mistake_text` replaces the usual ones for unknown options and missing
// arguments.
Result<std::vector<std::string>> read_options(int argc, char* const* argv,
                                              const std::vector<Option>& table, OtherWords others,
                                              const char* mistake_text = nullptr);

// Words as typed, with blanks between them.
std::string joined(const std::vector<std::string>& words);

// The text of --help.
std::string usage(const char* before, const std::vector<Option>& table, const char* behind);

}  // namespace pcp::trace::command
