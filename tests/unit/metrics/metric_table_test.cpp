// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/metric_table.hpp"

#include <cstring>
#include <fstream>
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

TEST(MetricTable, IsWhatTheFilesPmnsSay) {
  const std::vector<Metric> table = metric_table({});
  EXPECT_EQ(pmns_file(table, "trace"), committed("pmns")) << "build the target pmda_metadata";
  EXPECT_EQ(pmns_file(table, "tracing"), committed("pmns.tracing"));
}

TEST(MetricTable, IsWhatTheFileHelpSays) {
  EXPECT_EQ(help_file(metric_table({})), committed("help")) << "build the target pmda_metadata";
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
  std::vector<Text> texts(kIndomTexts.begin(), kIndomTexts.end());
  for (const Metric& metric : metric_table({})) texts.push_back(metric.text);
  for (const Text& text : texts) {
    EXPECT_GT(std::strlen(text.line), 0);
    EXPECT_EQ(std::strchr(text.line, '\n'), nullptr) << text.line;
    EXPECT_TRUE(std::string_view(text.full).ends_with(".\n")) << text.line;
    std::istringstream lines(text.full);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80) << line;
  }
}

TEST(MetricTable, TakesUnitsOverForWhatProgramsReport) {
  ValueUnits units;
  units.observation.dimSpace = 1;
  units.counter.dimTime = 1;
  for (const Metric& metric : metric_table(units)) {
    const std::string name = metric.name;
    if (name == "trace.observe.value" || name == "trace.observe.max") {
      EXPECT_EQ(metric.units.dimSpace, 1);
    }
    if (name == "trace.counter.value") {
      EXPECT_EQ(metric.units.dimTime, 1);
    }
    if (name == "trace.observe.count") {
      EXPECT_EQ(metric.units.dimSpace, 0);
    }
  }
}

}  // namespace

}  // namespace pcp::trace::agent
