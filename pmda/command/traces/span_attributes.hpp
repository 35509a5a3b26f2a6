// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes apart what the agent shows of a span in one text: collector/spans/span_text.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcp::trace::command {

struct SpanAttribute {
  std::string key;
  std::string text;
  std::optional<double> number;  // if it is there, it is the value
};

std::vector<SpanAttribute> attributes_of(std::string_view text);

// The same for people: sql="a\nb" status="200" rows=28.5. Text with blanks, or like a number, is in
// quotes; a backslash begins an escape always.
std::string shown_attributes(std::string_view text);

// The words of a text: links are such.
std::vector<std::string> words_of(std::string_view text);

}  // namespace pcp::trace::command
