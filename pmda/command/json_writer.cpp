// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>
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

}  // namespace pcp::trace::command
