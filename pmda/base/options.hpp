// SPDX-License-Identifier: LGPL-2.1-or-later
// The options of a command line, as a table. getopt and --help read it, and the shell's completion
// reads --help.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace pcp::trace {

struct Option {
  const char* name;
  char letter;           // 0: none
  const char* argument;  // its name in --help; null: the option has none
  const char* help;      // '\n' begins a line; null: refused, with the error that store() returns
  std::function<Result<void>(const char*)> store;
  bool is_last = false;  // nothing behind it is read, as for --help
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

enum class OtherWords { Anywhere, Behind };  // Behind: options end at the first one

// Stores the options, and returns all other words, or the first mistake, which begins with the
// option's name; options behind a mistake are stored, too. `mistake_text` replaces the usual ones
// for unknown options and missing arguments.
Result<std::vector<std::string>> read_options(int argc, char* const* argv,
                                              const std::vector<Option>& table, OtherWords others,
                                              const char* mistake_text = nullptr);

// The text of --help.
std::string usage(const char* before, const std::vector<Option>& table, const char* behind);

}  // namespace pcp::trace
