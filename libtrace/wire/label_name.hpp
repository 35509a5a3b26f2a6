// SPDX-License-Identifier: LGPL-2.1-or-later
// Which labels a process may give to its tags. PCP's libraries refuse a whole set of labels for one
// bad name, so names are checked where they come in: in the program's library and in the agent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace pcp::trace {

inline constexpr std::size_t kMaxLabelNameLength = 254;

// What PCP takes: a letter, then letters, digits and underscores.
constexpr bool is_label_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_follow = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kMaxLabelNameLength && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), may_follow);
}

// Labels that PCP and the agent give. In PCP an instance's labels win over those of its host: a
// process that gave these could pass for one of another host or user.
inline constexpr std::array<std::string_view, 12> kReservedLabels{
    "hostname",   "domainname", "machineid", "machineid_sha256",
    "container",  "userid",     "groupid",   "agent",
    "trace_type", "tag",        "pid",       "service"};

constexpr bool is_reserved_label(std::string_view name) {
  return std::find(kReservedLabels.begin(), kReservedLabels.end(), name) != kReservedLabels.end();
}

}  // namespace pcp::trace
