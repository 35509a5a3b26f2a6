// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/printable.hpp"

#include <algorithm>

#include "collector/engine/escape.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::string_view kMark = "...";

std::size_t none_stays(std::string_view) { return 0; }

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
    take_escaped(text, out, leading ? none_stays : stays_in_name);
    if (out.size() > most) return out.substr(0, cut).append(kMark);
    if (out.size() + kMark.size() <= most) cut = out.size();
  }
  return out;
}

}  // namespace pcp::trace::agent
