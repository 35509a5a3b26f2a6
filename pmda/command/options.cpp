// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/options.hpp"

#include <getopt.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>

#include "metrics/parse_argument.hpp"

namespace pcp::trace::command {

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

const Option& row_of(const std::vector<Option>& table, int found) {
  if (found >= kFirstLong) return table[static_cast<std::size_t>(found - kFirstLong)];
  return *std::find_if(table.begin(), table.end(),
                       [found](const Option& each) { return each.letter == found; });
}

std::string with_dash(int letter) { return {'-', static_cast<char>(letter)}; }

Error mistake(int found, const std::string& word, const char* why) {
  if (why != nullptr) return {"\"" + word + "\": " + why};
  const bool is_letter = optopt > 0 && optopt < kFirstLong;
  return {(is_letter ? with_dash(optopt) : word.substr(0, word.find('='))) +
          (found == ':' ? ": needs an argument" : ": is not an option")};
}

}  // namespace

std::optional<std::uint64_t> positive_number(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || end != text.end() || number == 0 || number > most) return {};
  return number;
}

Result<std::string> parse_file(const std::string& text) {
  return text.empty() ? Result<std::string>(Error{"needs a file"}) : text;
}

Result<std::string> parse_archive(const std::string& text) {
  return text.empty() ? Result<std::string>(Error{"needs an archive, or its folder"}) : text;
}

Result<std::string> parse_host(const std::string& text) {
  if (text.empty()) return Error{"needs a host"};
  if (text.front() == '/') return Error{"a host is a name; for a socket, unix:" + text};
  return text;
}

Result<Duration> parse_time(const std::string& text) {
  return agent::parse_period(in_pcps_words(text));
}

std::string in_pcps_words(std::string_view text) {
  const auto letter = [text](std::size_t at) {
    const auto code = static_cast<unsigned char>(text[at]);
    return std::isalpha(code) != 0 ? std::tolower(code) : 0;
  };
  std::string words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    words += text[i];
    const bool is_unit = i > 1 && letter(i) == 's' && letter(i - 2) == 0 &&
                         (letter(i - 1) == 'm' || letter(i - 1) == 'u' || letter(i - 1) == 'n');
    if (is_unit && (i + 1 == text.size() || letter(i + 1) == 0)) words += "ec";
  }
  return words;
}

Result<std::vector<std::string>> read_options(int argc, char* const* argv,
                                              const std::vector<Option>& table, OtherWords others,
                                              const char* mistake_text) {
  const GetoptTable known(table, others);
  opterr = 0;
  optind = 0;  // restarts getopt
  for (;;) {
    const int found = ::getopt_long(argc, argv, known.letters.c_str(), known.names.data(), nullptr);
    if (found == -1) return std::vector<std::string>(argv + optind, argv + argc);
    if (found == ':' || (found == '?' && optopt != '?'))
      return mistake(found, argv[optind - 1], mistake_text);
    const Option& row = row_of(table, found);
    if (const Result<void> stored = row.store(optarg); !stored)
      return Error{(found >= kFirstLong ? std::string("--") + row.name : with_dash(found)) + ": " +
                   stored.error().message};
    if (row.letter == '?') return std::vector<std::string>();  // --help: nothing else matters
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
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

}  // namespace pcp::trace::command
