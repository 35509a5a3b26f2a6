// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace pcp::trace::client {

// At most `most` bytes of a text; UTF-8 is cut between two characters.
inline std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [text](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u;
  };
  std::size_t end = most;
  while (end > 0 && end + 3 > most && continues(end)) --end;
  return text.substr(0, continues(end) ? most : end);
}

}  // namespace pcp::trace::client
