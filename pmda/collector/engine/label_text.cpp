// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/label_text.hpp"

#include <algorithm>

#include "collector/engine/printable.hpp"

namespace pcp::trace::agent {

namespace {

// Gives a string of JSON. An answer may have 100,000 of the longest, so no byte asks for room.
std::string quoted(std::string_view text, std::size_t most) {
  const std::string shown = printable(text, most);
  std::string result(2 * shown.size() + 2, '"');
  char* end = result.data() + 1;
  for (const char c : shown) {
    if (c == '"' || c == '\\') *end++ = '\\';
    *end++ = c;
  }
  *end++ = '"';
  result.resize(static_cast<std::size_t>(end - result.data()));
  return result;
}

}  // namespace

bool LabelText::add(std::string_view name, std::string_view value, std::size_t most) {
  const auto after = std::lower_bound(
      labels_.begin(), labels_.end(), name,
      [this](const Label& label, std::string_view wanted) { return name_of(label) < wanted; });
  if (after != labels_.end() && name_of(*after) == name) return false;

  const std::string json = quoted(value, most);
  const std::string begin = members_.empty() ? "\"" : ",\"";
  const std::string end = "\":";
  const std::size_t name_at = members_.size() + begin.size();
  const std::size_t value_at = name_at + name.size() + end.size();
  if (labels_.size() == kMaxLabels || value_at + json.size() > kMaxBytes) return false;
  const auto narrow = [](std::size_t number) { return static_cast<std::uint16_t>(number); };
  labels_.insert(after,
                 {narrow(name_at), narrow(name.size()), narrow(value_at), narrow(json.size())});
  members_.append(begin).append(name).append(end).append(json);
  return true;
}

}  // namespace pcp::trace::agent
