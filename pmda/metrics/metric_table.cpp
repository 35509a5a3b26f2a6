// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/metric_table.hpp"

#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace pcp::trace::agent {

const std::array<Text, kIndomCount> kIndomTexts{{
    {"tags of transactions",
     R"(One instance for each name that programs have given to transactions
(pmtracebegin, pmtraceend), since the agent started or was last reset.
)"},
    {"tags of points",
     R"(One instance for each name that programs have given to points (pmtracepoint),
since the agent started or was last reset.
)"},
    {"tags of observations",
     R"(One instance for each name that programs have given to observations
(pmtraceobs), since the agent started or was last reset.
)"},
    {"tags of counters",
     R"(One instance for each name that programs have given to counters
(pmtracecounter), since the agent started or was last reset.
)"},
    {"traced processes",
     R"(One instance for each process that has been connected for more than five
seconds and uses this agent's own library. The number is the process's, or
near it if two machines or containers have the same.
)"},
}};

std::vector<Metric> metric_table(const ValueUnits& units) {
  std::vector<Metric> table;
  for (auto part : {classic_metrics(units), window_metrics(units), in_flight_metrics(),
                    status_metrics(), client_metrics(), span_metrics(), histogram_metrics()}) {
    table.insert(table.end(), std::make_move_iterator(part.begin()),
                 std::make_move_iterator(part.end()));
  }
  return table;
}

namespace {

// The lines of each inner node; `order` has the nodes by their first metric.
struct NameSpace {
  std::vector<std::string> order;
  std::map<std::string, std::string> lines;

  std::string& lines_of(const std::string& path) {
    const auto [found, is_new] = lines.try_emplace(path);
    if (is_new) {
      order.push_back(path);
      const std::size_t dot = path.rfind('.');
      if (dot != path.npos) lines_of(path.substr(0, dot)) += "    " + path.substr(dot + 1) + "\n";
    }
    return found->second;
  }
};

std::string identifier(const Metric& metric) {
  return "TRACE:" + std::to_string(metric.cluster) + ":" + std::to_string(metric.item);
}

}  // namespace

std::string pmns_file(const std::vector<Metric>& table, const std::string& top) {
  NameSpace names;
  for (const Metric& metric : table) {
    const std::string name = metric.name;
    if (!name.starts_with(top + ".")) continue;
    const std::size_t dot = name.rfind('.');
    names.lines_of(name.substr(0, dot)) +=
        "    " + name.substr(dot + 1) + "\t" + identifier(metric) + "\n";
  }
  std::string text =
      "/* The names of the trace agent's metrics, as its metric table has them. */\n";
  // lines_of() adds a node before its parent, so the top is not the first in `order`.
  text += "\n" + top + " {\n" + names.lines[top] + "}\n";
  for (const std::string& path : names.order) {
    if (path != top) text += "\n" + path + " {\n" + names.lines[path] + "}\n";
  }
  return text;
}

std::string help_file(const std::vector<Metric>& table) {
  std::string text =
      "# Help texts in the format of newhelp(1), as the trace agent itself gives them.\n";
  const auto add = [&text](const std::string& name, const Text& entry) {
    text += "\n@ " + name + " " + entry.line + "\n" + entry.full;
  };
  for (unsigned serial = 0; serial < kIndomCount; ++serial) {
    add("TRACE." + std::to_string(serial), kIndomTexts[serial]);
  }
  for (const Metric& metric : table) add(metric.name, metric.text);
  return text;
}

}  // namespace pcp::trace::agent
