// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/host_table.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

HostValue value(const std::string& metric, const std::optional<std::string>& instance) {
  return {metric, instance, "saturn", "bytes per second", true, 0, 1234.5, 2e9, 10, {}};
}

TEST(HostTable, HasALineForEachValueWhateverItsName) {
  const std::string text = host_table(
      {value("mem.free", {}), value("disk.dev.bytes", "s\x1b[2Jda")}, Shown({false, false, 80}));
  EXPECT_EQ(
      lines_of(text),
      (std::vector<std::string>{
          "", "Metrics of the host                                    least      mean  greatest",
          "mem.free                      bytes per second             0     1,234    2.00 G",
          "disk.dev.bytes[s\\x1b[2Jda]    bytes per second             0     1,234    2.00 G"}));
  EXPECT_EQ(host_table({}, Shown({false, false, 80})), "");
}

TEST(HostTable, HasTheGreatestValuesOfEachMetric) {
  std::vector<HostValue> values;
  for (const char* const metric : {"a", "b", "c", "d", "e"})
    for (int i = 0; i < 5; ++i) values.push_back(value(metric, std::to_string(i)));
  const std::string text = host_table(values, Shown({false, false, 80}));
  EXPECT_EQ(lines_of(text).size(), 2 + 12 + 1U);
  EXPECT_TRUE(has(text, "b[2] ")) << text;
  EXPECT_FALSE(has(text, "b[3] "));
  EXPECT_EQ(lines_of(text).back(), "13 more values: pcp-trace report --json");
}

}  // namespace
}  // namespace pcp::trace::command
