// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "command/show/summary.hpp"

namespace pcp::trace::command {
namespace {

constexpr Terminal kPlain{false, false, 80};

Tag transaction(const std::string& name, double rate, double p50, double p99) {
  Tag tag;
  tag.name = name;
  tag.type = TraceType::Transact;
  tag.rate = rate;
  tag.percentiles[kP50] = p50;
  tag.percentiles[kP99] = p99;
  return tag;
}

Totals run_of(std::vector<Tag> tags) {
  Totals totals{{}, std::move(tags)};
  totals.run.hosts = {"saturn"};
  return totals;
}

TEST(Comparison, ShowsBothRunsAndWhatHasChanged) {
  const std::string text =
      comparison(run_of({transaction("checkout", 200, 0.0012, 0.0088)}),
                 run_of({transaction("checkout", 250, 0.0018, 0.0044)}), kPlain);
  EXPECT_NE(
      text.find("checkout                 was      200          1.20 ms          8.80 ms\n"
                "                         is       250 +25%^    1.80 ms +50%^    4.40 ms -50%v"),
      std::string::npos)
      << text;
}

TEST(Comparison, MarksNothingWhereOneSeesNoChange) {
  const std::string text =
      comparison(run_of({transaction("checkout", 200, 1, 1)}),
                 run_of({transaction("checkout", 200, 1.0004, 0.9996)}), {true, true, 80});
  EXPECT_EQ(text.find("▲"), std::string::npos) << text;
  EXPECT_EQ(text.find("▼"), std::string::npos) << text;
}

TEST(Comparison, MarksWorseAndBetterInColours) {
  const std::string text =
      comparison(run_of({transaction("checkout", 200, 1, 1)}),
                 run_of({transaction("checkout", 200, 2, 0.5)}), {true, true, 80});
  EXPECT_NE(text.find("\033[31m +100%▲\033[0m"), std::string::npos) << text;
  EXPECT_NE(text.find("\033[32m -50%▼\033[0m"), std::string::npos) << text;
}

TEST(Comparison, NamesTagsThatAreInOneRunOnly) {
  const std::string text =
      comparison(run_of({transaction("old", 1, 1, 1), transaction("b", 1, 1, 1)}),
                 run_of({transaction("new", 1, 1, 1), transaction("b", 1, 1, 1)}), kPlain);
  EXPECT_NE(text.find("only before (1): old\nonly now (1): new\n"), std::string::npos) << text;
}

TEST(Comparison, OfWhatIsUnknownSaysNoChange) {
  Tag unknown = transaction("checkout", 1, 1, 1);
  unknown.percentiles = {};
  const std::string text =
      comparison(run_of({transaction("checkout", 1, 1, 1)}), run_of({unknown}), kPlain);
  EXPECT_NE(text.find("is      1.00 0%             -                -\n"), std::string::npos)
      << text;
}

TEST(Comparison, KeepsToEightyColumns) {
  std::vector<Tag> before;
  std::vector<Tag> now;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i) + std::string(200, 'x');
    before.push_back(transaction(name, 1e-9, 1e-9, 1e9));
    now.push_back(transaction(name, 1e9, 1e9, 1e-9));
    before.push_back(transaction("old" + name, 1, 1, 1));
  }
  std::istringstream lines(comparison(run_of(before), run_of(now), kPlain));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_LE(columns_of(line), 80U) << line;
  EXPECT_LT(count, 60);
}

}  // namespace
}  // namespace pcp::trace::command
