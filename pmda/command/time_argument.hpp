// SPDX-License-Identifier: LGPL-2.1-or-later
// A time on the command line.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "metrics/parse_argument.hpp"

namespace pcp::trace::command {

// Converts times to PCP's units: PCP's library takes 500ms for 500 minutes, and does not know us
// and ns. Letters may be upper case.
inline std::string in_pcps_words(std::string_view text) {
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

inline Result<Duration> parse_time(const std::string& text) {
  return agent::parse_period(in_pcps_words(text));
}

}  // namespace pcp::trace::command
