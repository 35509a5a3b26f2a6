// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/metric_table.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

std::string committed(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(PMDA_DIRECTORY "/") + name).rdbuf();
  return text.str();
}

// "NAME CLUSTER:ITEM" of each metric in a file of names; each inner node is in its parent, too.
std::set<std::string> names_in(const std::string& file) {
  std::set<std::string> names;
  std::set<std::string> nodes;
  std::istringstream lines(committed(file));
  std::string node;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, identifier;
    words >> name >> identifier;
    if (line.ends_with(" {")) {
      node = name;
      EXPECT_TRUE(node.find('.') == node.npos || nodes.contains(node)) << node;
    } else if (identifier.starts_with("TRACE:")) {
      names.insert(node + '.' + name + ' ' + identifier.substr(6));
    } else if (line.starts_with("    ")) {
      nodes.insert(node + '.' + name);
    }
  }
  return names;
}

TEST(MetricTable, IsWhatTheFilesPmnsSay) {
  std::set<std::string> names;
  for (const Metric& metric : metric_table({}))
    names.insert(metric.name + std::string(" ") + std::to_string(metric.cluster) + ':' +
                 std::to_string(metric.item));
  std::set<std::string> committed = names_in("pmns");
  committed.merge(names_in("pmns.tracing"));
  EXPECT_EQ(names, committed);
}

TEST(MetricTable, HasATextForEachMetricAndEachInstanceDomainAndNoOther) {
  std::set<std::string> wanted;
  for (const Metric& metric : metric_table({})) wanted.insert(metric.name);
  for (unsigned serial = 0; serial < kIndomCount; ++serial)
    wanted.insert("10." + std::to_string(serial));
  std::set<std::string> found;
  std::istringstream lines(committed("help"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("@ ")) found.insert(line.substr(2, line.find(' ', 2) - 2));
  EXPECT_EQ(wanted, found);
}

TEST(MetricTable, GivesEachNameAndEachIdentifierOnce) {
  std::set<std::string> names;
  std::set<std::pair<unsigned, unsigned>> identifiers;
  for (const Metric& metric : metric_table({})) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_TRUE(identifiers.insert({metric.cluster, metric.item}).second) << metric.name;
  }
}

TEST(MetricTable, ExplainsEverythingInWholeLines) {
  for (const Metric& metric : metric_table({})) {
    const Help* const help = find_help(metric.name);
    ASSERT_NE(help, nullptr) << metric.name;
    EXPECT_GT(help->line.size(), 0);
    EXPECT_EQ(help->line.find('\n'), std::string::npos) << help->line;
    EXPECT_TRUE(help->full.ends_with(".\n") && !help->full.ends_with("\n\n")) << help->line;
    std::istringstream lines(help->full);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80) << line;
  }
}

TEST(MetricTable, TakesATextAsItIsInTheFileHelp) {
  const Help* const help = find_help("trace.transact.min_time");
  ASSERT_NE(help, nullptr);
  EXPECT_EQ(help->line, "shortest transaction of the window, by tag");
  EXPECT_EQ(help->full, "The duration of the fastest transaction completed in the window.\n");
  EXPECT_EQ(find_help("trace.transact"), nullptr);
}

TEST(MetricTable, TakesUnitsOverForWhatProgramsReport) {
  ValueUnits units;
  units.observation.dimSpace = 1;
  units.counter.dimTime = 1;
  std::map<std::string, pmUnits> shown;
  for (const Metric& metric : metric_table(units)) shown[metric.name] = metric.units;
  EXPECT_EQ(shown.at("trace.observe.value").dimSpace, 1);
  EXPECT_EQ(shown.at("trace.observe.max").dimSpace, 1);
  EXPECT_EQ(shown.at("trace.observe.count").dimSpace, 0);
  EXPECT_EQ(shown.at("trace.counter.value").dimTime, 1);
}

}  // namespace
}  // namespace pcp::trace::agent
