// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/host_table.hpp"

#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "command/show/text_table.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostMetrics = 12;
constexpr std::size_t kMostOfAMetric = 3;

}  // namespace

std::string host_table(const std::vector<HostValue>& values, const Shown& shown) {
  std::vector<const HostValue*> rows;
  std::set<std::string> hosts;
  std::pair<std::string, std::size_t> last;  // a metric, and its rows
  for (const HostValue& each : values) {
    hosts.insert(each.host);
    if (each.metric != last.first) last = {each.metric, 0};
    if (rows.size() < kMostMetrics && last.second++ < kMostOfAMetric) rows.push_back(&each);
  }
  if (rows.empty()) return "";
  constexpr int kNumber = 10;
  constexpr int kLeastName = 24;
  const TextTable table({{20, 1, true}, {kNumber}, {kNumber}, {kNumber}}, kLeastName, shown);
  std::vector<std::string> texts;
  std::vector<NameToCut> names;
  texts.reserve(rows.size());
  names.reserve(rows.size());
  for (const HostValue* const each : rows)
    texts.push_back((hosts.size() > 1 ? each->host + ": " : "") + each->metric +
                    (each->instance ? "[" + *each->instance + "]" : ""));
  for (const std::string& each : texts) names.push_back({each, table.name_width() - 1});
  const std::vector<std::string> cut = shown.names(names);
  constexpr std::array kHeads{"", "least", "mean", "greatest"};
  std::string text = "\n" + shown.faint(table.line("Metrics of the host", [&](std::size_t column) {
    return TextTable::Cell(kHeads[column]);
  })) + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HostValue& its = *rows[i];
    const std::array numbers{its.least, its.mean, its.greatest};
    text += table.line(cut[i], [&](std::size_t column) {
      return TextTable::Cell(column == 0 ? its.unit : Shown::number(numbers[column - 1]));
    }) + "\n";
  }
  if (const std::size_t more = values.size() - rows.size(); more > 0)
    text += shown.faint(Shown::counted(more, "more value") + ": pcp-trace report --json") + "\n";
  return text;
}

}  // namespace pcp::trace::command
