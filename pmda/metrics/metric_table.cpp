// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/metric_table.hpp"

#include <iterator>
#include <map>
#include <string_view>

namespace pcp::trace::agent {

// The file `help`, in the format of newhelp(1). CMakeLists.txt makes its source.
extern const std::string_view kHelpFile;

namespace {

// An entry is "@ NAME LINE", and the full text up to the next entry.
std::map<std::string, Help> entries_of(std::string_view file) {
  constexpr std::string_view kBegin = "\n@ ";
  std::map<std::string, Help> entries;
  std::size_t begin = file.find(kBegin);
  while (begin != file.npos) {
    const std::size_t end = file.find(kBegin, begin + 1);
    const std::string_view entry = file.substr(0, end).substr(begin + kBegin.size());
    const std::size_t blank = entry.find(' ');
    const std::size_t newline = entry.find('\n');
    entries[std::string(entry.substr(0, blank))] = {
        std::string(entry.substr(0, newline).substr(blank + 1)),
        std::string(entry.substr(newline + 1))};
    begin = end;
  }
  return entries;
}

}  // namespace

std::vector<Metric> metric_table(const ValueUnits& units) {
  std::vector<Metric> table;
  for (const auto& part : {tag_metrics(units), agent_metrics(), tracing_metrics()})
    table.insert(table.end(), part.begin(), part.end());
  return table;
}

const Help* find_help(const std::string& name) {
  static const std::map<std::string, Help> kEntries = entries_of(kHelpFile);
  const auto found = kEntries.find(name);
  return found == kEntries.end() ? nullptr : &found->second;
}

}  // namespace pcp::trace::agent
