// SPDX-License-Identifier: LGPL-2.1-or-later
// Valid names for a process's labels. PCP's libraries reject a whole label set for one bad name, so
// both the program's library and the agent check names.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace pcp::trace {

inline constexpr std::size_t kMaxLabelNameLength = 254;

// PCP's rule: a letter, then letters, digits and underscores.
constexpr bool is_label_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_follow = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kMaxLabelNameLength && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), may_follow);
}

// Labels of PCP and the agent. In PCP an instance's labels override its host's: with these a
// process could pass for one of another host or user.
inline constexpr std::array<std::string_view, 12> kReservedLabels{
    "hostname",   "domainname", "machineid", "machineid_sha256",
    "container",  "userid",     "groupid",   "agent",
    "trace_type", "tag",        "pid",       "service"};

constexpr bool is_reserved_label(std::string_view name) {
  return std::find(kReservedLabels.begin(), kReservedLabels.end(), name) != kReservedLabels.end();
}

}  // namespace pcp::trace
