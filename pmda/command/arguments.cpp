// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/arguments.hpp"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdlib>

#include "metrics/parse_argument.hpp"

namespace pcp::trace::command {

std::optional<std::uint64_t> positive_number(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || end != text.end() || number == 0 || number > most) return {};
  return number;
}

Result<std::uint64_t> parse_count(const std::string& text) {
  if (const auto count = positive_number(text)) return *count;
  return Error{"\"" + text + "\" is no number from 1 on"};
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

void add_usual_host(std::vector<std::string>& hosts) {
  if (!hosts.empty()) return;
  const char* const host = std::getenv("PCP_HOST");
  hosts.emplace_back(host != nullptr && *host != '\0' ? host : "local:");
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

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace pcp::trace::command
