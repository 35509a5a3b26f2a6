// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

#include "base/escape.hpp"

namespace pcp::trace::command {

void JsonWriter::text(std::string_view value) {
  separate();
  text_ += '"';
  for (const char c : printable(value, std::numeric_limits<std::size_t>::max() / 2)) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

void JsonWriter::exact_text(std::string_view value) {
  literal(json_string(value, std::numeric_limits<std::size_t>::max() / 2));
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
  literal({digits.data(), end});
}

std::string rfc3339(std::chrono::sys_time<std::chrono::nanoseconds> moment) {
  const auto since_1970 = moment.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_1970);
  const auto time = static_cast<std::time_t>(seconds.count());
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%09lldZ",
                static_cast<long long>((since_1970 - seconds).count()));
  return std::string(date.data()) + fraction.data();
}

}  // namespace pcp::trace::command
