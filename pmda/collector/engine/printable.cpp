// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/printable.hpp"

#include <algorithm>

#include "collector/engine/escape.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::string_view kMark = "...";

// Gives the length of the printable UTF-8 character that `text` begins with; 0 if there is none.
std::size_t printable_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool control = lead == 0xc2 && byte(1) < 0xa0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool too_great = lead == 0xf4 && byte(1) >= 0x90;
  return control || overlong || surrogate || too_great ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (text.size() <= most && !text.starts_with(' ') &&
      std::all_of(text.begin(), text.end(), is_plain)) [[likely]]
    return std::string(text);

  std::string out;
  out.reserve(std::min(text.size(), most) + kMark.size() + 1);
  std::size_t cut = 0;  // where the mark goes, should the rest not fit
  bool leading = true;
  while (!text.empty()) {
    leading = leading && text.front() == ' ';
    const std::size_t length = leading ? 0 : printable_length(text);
    if (length == 0) {
      append_escaped(out, text.front());
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
    if (out.size() > most) return out.substr(0, cut).append(kMark);
    if (out.size() + kMark.size() <= most) cut = out.size();
  }
  return out;
}

}  // namespace pcp::trace::agent
