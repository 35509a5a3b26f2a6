// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/limited_log.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

std::vector<std::string> lines;

void remember(const std::string& line) { lines.push_back(line); }

constexpr Instant kStart{std::chrono::hours(1)};

TEST(LimitedLog, SaysSoManyLinesThenHowManyWereLeftOut) {
  lines.clear();
  LimitedLog log(remember);
  log.catch_up(kStart);
  EXPECT_TRUE(lines.empty());
  for (unsigned i = 0; i < LimitedLog::kMostLines + 5; ++i) log.say("line", kStart);
  EXPECT_EQ(lines.size(), LimitedLog::kMostLines);
  log.catch_up(kStart + LimitedLog::kInterval);
  ASSERT_EQ(lines.size(), LimitedLog::kMostLines + 1);
  EXPECT_EQ(lines.back(), "5 more lines about clients were left out");
  log.say("again", kStart + LimitedLog::kInterval);
  log.catch_up(kStart + 2 * LimitedLog::kInterval);
  EXPECT_EQ(lines.back(), "again");
}

TEST(TextForALog, ShowsPrintableAsciiAndCodesOfTheRest) {
  EXPECT_EQ(for_log("a b\n\x1b\xff\"\\"), "a b\\x0a\\x1b\\xff\\x22\\x5c");
  EXPECT_EQ(for_log(std::string(64, 'x')), std::string(64, 'x'));
  EXPECT_EQ(for_log(std::string(65, 'x')), std::string(64, 'x') + "...");
}

}  // namespace
}  // namespace pcp::trace::agent
