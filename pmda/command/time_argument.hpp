// SPDX-License-Identifier: LGPL-2.1-or-later
// A time on the command line.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "metrics/parse_argument.hpp"

namespace pcp::trace::command {

// A text with times, for PCP's library: that takes 500ms for 500 minutes, and knows neither us nor
// ns.
inline std::string in_pcps_words(std::string_view text) {
  std::string words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    words += text[i];
    const bool is_unit = i > 1 && text[i] == 's' &&
                         std::string_view("mun").find(text[i - 1]) != std::string_view::npos;
    const bool ends =
        i + 1 == text.size() || std::isalpha(static_cast<unsigned char>(text[i + 1])) == 0;
    if (is_unit && ends && std::isalpha(static_cast<unsigned char>(text[i - 2])) == 0)
      words += "ec";
  }
  return words;
}

inline Result<agent::Time> parse_time(const std::string& text) {
  return agent::parse_period(in_pcps_words(text));
}

}  // namespace pcp::trace::command
