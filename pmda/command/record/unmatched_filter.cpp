// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/unmatched_filter.hpp"

#include <cstddef>
#include <set>

#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

std::string unmatched_filter(const std::string& filter, const std::vector<Tag>& tags,
                             const Shown& shown) {
  constexpr std::size_t kMostNames = 5;
  constexpr std::size_t kNameColumns = 40;
  const auto parsed = wire::parse_capture_filter(filter);
  if (!parsed) return "";
  std::set<std::string> names;
  for (const Tag& tag : tags) {
    if (tag.type != TraceType::Transact) continue;
    if (wire::matches_tag(*parsed, tag.name)) return "";
    names.insert(tag.name);
  }
  if (names.empty()) return "";
  std::string list;
  std::size_t listed = 0;
  for (const std::string& name : names) {
    if (listed++ == kMostNames) break;
    list += (list.empty() ? "" : ", ") + shown.name(name, kNameColumns);
  }
  if (names.size() > kMostNames)
    list += " and " + Shown::count(static_cast<double>(names.size() - kMostNames)) + " more";
  return "the filter matches none of the tags there: " + list + "\n";
}

}  // namespace pcp::trace::command
