// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses the texts of collector/spans/span_text.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcp::trace::command {

struct ShownAttribute {
  std::string key;
  std::string text;
  std::optional<double> number;  // if set, this is the value
};

std::vector<ShownAttribute> attributes_of(std::string_view text);

// Formatted for people: sql="a\nb" status="200" rows=28.5. Text with blanks, or like a number, is
// quoted; a backslash always begins an escape.
std::string shown_attributes(std::string_view text);

// The words of a text, for example of links.
std::vector<std::string> words_of(std::string_view text);

}  // namespace pcp::trace::command
