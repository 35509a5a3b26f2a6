// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/options.hpp"

#include <getopt.h>

#include <algorithm>
#include <cstddef>

namespace pcp::trace {

namespace {

constexpr std::size_t kHelpColumn = 23;
constexpr int kFirstLong = 256;  // getopt's result for the long name in the first row

// getopt's form of a table.
struct GetoptTable {
  GetoptTable(const std::vector<Option>& table, OtherWords others)
      : letters(others == OtherWords::Behind ? "+:" : ":") {  // ':': report missing arguments
    for (const Option& each : table) {
      const int argument = each.help == nullptr       ? optional_argument
                           : each.argument != nullptr ? required_argument
                                                      : no_argument;
      // getopt's result for an unknown letter is '?', and optopt is the letter: so -? is unknown.
      if (each.letter != 0 && each.letter != '?')
        (letters += each.letter).append(static_cast<std::size_t>(argument), ':');
      names.push_back({each.name, argument, nullptr, kFirstLong + static_cast<int>(names.size())});
    }
    names.push_back({});
  }

  std::string letters;
  std::vector<option> names;
};

// Null: a mistake. An option -? comes as one, since getopt does not know its letter.
const Option* row_of(const std::vector<Option>& table, int found) {
  if (found >= kFirstLong) return &table[static_cast<std::size_t>(found - kFirstLong)];
  if (found == '?' && optopt != '?') return nullptr;
  const auto row = std::ranges::find_if(
      table, [found](const Option& each) { return each.letter != 0 && each.letter == found; });
  return row == table.end() ? nullptr : &*row;
}

std::string with_dash(int letter) { return {'-', static_cast<char>(letter)}; }

Error mistake(int found, const std::string& word, const char* why) {
  if (why != nullptr) return {"\"" + word + "\": " + why};
  const bool is_letter = optopt > 0 && optopt < kFirstLong;
  return {(is_letter ? with_dash(optopt) : word.substr(0, word.find('='))) +
          (found == ':' ? ": needs an argument" : ": is not an option")};
}

}  // namespace

Result<std::vector<std::string>> read_options(int argc, char* const* argv,
                                              const std::vector<Option>& table, OtherWords others,
                                              const char* mistake_text) {
  const GetoptTable known(table, others);
  Result<void> first;
  opterr = 0;
  optind = 0;  // restarts getopt
  for (int found; (found = ::getopt_long(argc, argv, known.letters.c_str(), known.names.data(),
                                         nullptr)) != -1;) {
    const Option* const row = row_of(table, found);
    if (row == nullptr) {
      if (first) first = mistake(found, argv[optind - 1], mistake_text);
      continue;
    }
    if (const Result<void> stored = row->store(optarg); !stored && first)
      first = Error{(found >= kFirstLong ? std::string("--") + row->name : with_dash(found)) +
                    ": " + stored.error().message};
    if (row->is_last) break;
  }
  if (!first) return first.error();
  return std::vector<std::string>(argv + optind, argv + argc);
}

std::string usage(const char* before, const std::vector<Option>& table, const char* behind) {
  std::string text = before;
  for (const Option& each : table) {
    if (each.help == nullptr) continue;
    std::string line = each.letter != 0 ? "  " + with_dash(each.letter) + ", " : "      ";
    line += std::string("--") + each.name;
    if (each.argument != nullptr) line += std::string(" ") + each.argument;
    if (line.size() + 1 >= kHelpColumn) text += std::exchange(line, "") + "\n";
    line.resize(kHelpColumn, ' ');
    for (const char* help = each.help; *help != '\0'; ++help) {
      line += *help;
      if (*help == '\n') line.append(kHelpColumn, ' ');
    }
    text += line + "\n";
  }
  return text + behind;
}

}  // namespace pcp::trace
