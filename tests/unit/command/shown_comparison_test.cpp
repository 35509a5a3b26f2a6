// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command/show/comparison.hpp"
#include "unit/command/made_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

constexpr Terminal kPlain{false, false, 80};
constexpr Terminal kWide{true, false, 120};
constexpr Terminal kColors{true, true, 120};

Tag transaction(const std::string& name, double calls, double mean) {
  Tag tag = made_transaction(name, calls, mean);
  tag.percentiles = {mean, mean, 2 * mean, 3 * mean, 4 * mean};
  tag.percentile_source = PercentileSource::OneWindow;
  tag.max = Extreme{5 * mean, true};
  return tag;
}

Totals run_of(std::vector<Tag> tags) {
  Totals totals{{}, std::move(tags)};
  totals.run.hosts = {"saturn"};
  return totals;
}

// As if the verdict about each difference were this one.
std::string shown(const Totals& before, const Totals& now, const Terminal& terminal = kPlain,
                  Verdict verdict = Verdict::Real, const Divisors& divisors = {}) {
  Comparison comparison = compare(Side{before, {}, {}}, Side{now, {}, {}}, divisors);
  for (ComparedTag& tag : comparison.tags)
    for (Difference& change : tag.changes)
      if (change.is_known() && !change.is_none()) change.verdict = verdict;
  return shown_comparison(before, now, comparison, terminal);
}
std::string shown(const std::vector<Tag>& before, const std::vector<Tag>& now,
                  const Terminal& terminal = kPlain, Verdict verdict = Verdict::Real) {
  return shown(run_of(before), run_of(now), terminal, verdict);
}

TEST(ShownComparison, HasBothRunsAndTheChangesBelow) {
  EXPECT_TRUE(
      has(shown({transaction("checkout", 200, 0.01)}, {transaction("checkout", 200, 0.012)}, kWide),
          "\n"
          "Transactions                                                calls    total     mean"
          "      p50      p95      p99      max\n"
          "checkout                                             was      200   2.00 s  10.0 ms"
          "  10.0 ms  20.0 ms  30.0 ms  50.0 ms\n"
          "  lost 400 ms                                        now      200   2.40 s  12.0 ms"
          "  12.0 ms  24.0 ms  36.0 ms  60.0 ms\n"
          "                                                              ±0%     +20%▲    +20%▲"
          "    +20%▲    +20%▲    +20%▲    +20%▲\n"
          "\n"
          "▲ ▼ larger than the noise between equal runs\n"));
}

TEST(ShownComparison, DropsTheLeastImportantColumnsFirst) {
  const Tag before = transaction("checkout", 200, 0.01);
  Tag now = transaction("checkout", 200, 0.012);
  EXPECT_EQ(lines_of(shown({before}, {now}))[5],
            "Transactions                 calls    total     mean      p50      p95      p99");
  now.failed = 3;
  EXPECT_EQ(lines_of(shown({before}, {now}))[5],
            "Transactions                 calls  failed%    total     mean      p50      p95");
  EXPECT_EQ(lines_of(shown({before}, {now}, {false, false, 92}))[5],
            "Transactions                    calls  failed%    total     mean      p50      p95"
            "      p99");
}

TEST(ShownComparison, CutsNamesWhereTheyDiffer) {
  const Totals run = run_of({transaction("request{route=/cart/items/1/a,status=200}", 1, 1),
                             transaction("request{route=/cart/items/2/a,status=200}", 1, 1)});
  for (const std::size_t columns : {40U, 80U}) {
    const auto lines = lines_of(shown(run, run, {false, false, columns}));
    EXPECT_NE(lines[6].substr(0, 16), lines[9].substr(0, 16)) << lines[6];
    EXPECT_LE(lines[6].size(), columns);
    EXPECT_TRUE(has(lines[5], " total"));
  }
}

TEST(ShownComparison, MarksNothingThatIsNoise) {
  for (const Verdict verdict : {Verdict::Noise, Verdict::NotJudged}) {
    const std::string text = shown({transaction("checkout", 200, 1)},
                                   {transaction("checkout", 200, 2)}, kColors, verdict);
    for (const char* const sign : {"▲", "▼", "\033[31m", "\033[32m"}) EXPECT_FALSE(has(text, sign));
    EXPECT_TRUE(has(text, "\033[2m   +100%"));
    EXPECT_FALSE(has(text, "\033[2m     ±0%"));  // counts are exact
  }
}

TEST(ShownComparison, SaysOnceHowManyDifferencesWereNotJudged) {
  const std::vector<Tag> before{transaction("a", 200, 1), transaction("b", 200, 1)};
  const std::vector<Tag> now{transaction("a", 200, 2), transaction("b", 200, 2)};
  EXPECT_TRUE(
      has(shown(before, now, kWide, Verdict::NotJudged),
          "8 differences not judged: few intervals (run longer, or -t 10ms), or little time\n"));
  EXPECT_FALSE(has(shown(before, now, kWide, Verdict::Noise), "not judged"));
}

TEST(ShownComparison, MarksWorseAndBetterInColours) {
  Tag better = transaction("checkout", 200, 1);
  better.percentiles[kP50] = 0.5;
  better.percentiles[kP99] = 9;
  const std::string text = shown({transaction("checkout", 200, 1)}, {better}, kColors);
  EXPECT_TRUE(has(text, "\033[32m    -50%▼\033[0m"));
  EXPECT_TRUE(has(text, "\033[31m   +200%▲\033[0m"));
}

TEST(ShownComparison, BeginsWithTheTagThatLostMostTime) {
  const std::string text =
      shown({transaction("big", 100, 1), transaction("slower", 10, 1), transaction("x", 9, 1)},
            {transaction("big", 100, 0.9), transaction("slower", 10, 3), transaction("x", 9, 1)});
  EXPECT_LT(text.find("\nslower"), text.find("\nx "));
  EXPECT_LT(text.find("\nx "), text.find("\nbig"));
  EXPECT_TRUE(has(text, "\n  lost 20.0 s "));
  EXPECT_TRUE(has(text, "\n  saved 10.0 s "));
}

TEST(ShownComparison, CallsLessTimeNothingSavedIfMoreCallsFailed) {
  Tag fails = transaction("checkout", 100, 0.5);
  fails.failed = 50;
  EXPECT_FALSE(has(shown({transaction("checkout", 100, 1)}, {fails}), "saved"));
}

TEST(ShownComparison, SaysByWhatSumsAreDivided) {
  const auto run = [](double calls) {
    return run_of({transaction("checkout", calls, 1), transaction("query", 3 * calls, 1)});
  };
  EXPECT_FALSE(has(shown(run(1), run(2)), "sums"));
  const Divisors per_checkout{100, 250, TagKey(TraceType::Transact, "checkout")};
  const std::string text = shown(run(100), run(250), kPlain, Verdict::Noise, per_checkout);
  EXPECT_TRUE(has(text, "\nsums per call of checkout: 100 before, 250 now\n\n"));
  EXPECT_TRUE(has(text, "\nquery                 was        3   3.00 s "));
  EXPECT_TRUE(has(text, "\nsums: calls, failed, total, added, lost and saved\n"));
  EXPECT_FALSE(has(text, "  lost 1"));
  EXPECT_TRUE(has(shown(run(3), run(4), kPlain, Verdict::Noise, {3, 4, {}}),
                  "\nsums per run: 3 before, 4 now\n"));
}

TEST(ShownComparison, HasHowUnevenANameWasAndIs) {
  Totals before = run_of({transaction("work", 1, 1)});
  Totals now = run_of({transaction("work", 1, 1)});
  const auto imbalance = [](const std::string& label, double most) {
    return Imbalance{TraceType::Transact, "work", label, 2, 1, 0.5, {{"7", most}}};
  };
  before.imbalances = {imbalance("rank", 1.05), imbalance("route", 1.05), imbalance("pid", 1.05)};
  now.imbalances = {imbalance("rank", 1.9), imbalance("route", 1.9), imbalance("pid", 1.05),
                    imbalance("host", 1.9)};
  const std::string text = shown(before, now);
  EXPECT_TRUE(has(
      text, "\nuneven work by rank: was 1.05 x the mean (rank=7), now 1.90 x the mean (rank=7)\n"));
  for (const char* const other : {" by route", " by pid", " by host"})
    EXPECT_FALSE(has(text, other));
}

TEST(ShownComparison, HasWhatOtherTypesHave) {
  Tag counter = made_tag(TraceType::Counter, "bytes", 5);
  counter.counted = 1000;
  Tag more = counter;
  more.counted = 2000;
  Tag observation = made_tag(TraceType::Observe, "queue", 5);
  observation.mean = 3;
  const Tag point = made_tag(TraceType::Point, "hit", 5);
  const std::string text = shown({counter, observation, point}, {more, observation, point});
  EXPECT_TRUE(
      has(text,
          "\n"
          "Observations                values              mean      p50      p95      p99\n"
          "queue                 was        5                 3        -        -        -\n"));
  EXPECT_TRUE(has(text,
                  "\n"
                  "Points, counters             calls    added\n"
                  "bytes                 was        5    1,000\n"
                  "                      now        5    2,000\n"
                  "                                0%    +100%^\n"
                  "hit                   was        5\n"));
  counter.counted = 0;  // the program only set it
  EXPECT_TRUE(has(shown({counter}, {counter}), "\nbytes                 was        5        -\n"));
}

TEST(ShownComparison, NamesTagsThatAreInOneRunOnly) {
  const Tag both = transaction("b", 1, 1);
  EXPECT_TRUE(has(shown({transaction("old", 1, 1), both}, {transaction("new", 1, 1), both}),
                  "only before (1): old\nonly now (1): new\n"));
  EXPECT_TRUE(has(shown(std::vector<Tag>(), {both}), "No tag is in both."));
  EXPECT_EQ(lines_of(shown({}, std::vector<Tag>(20, transaction("new-step", 1, 1)))).back(),
            "only now (20): new-step, new-step, new-step, new-step, new-step and 15 more");
}

TEST(ShownComparison, OfWhatIsUnknownSaysNoChange) {
  Tag unknown = transaction("checkout", 1, 1);
  unknown.percentiles = {};
  EXPECT_TRUE(
      has(shown({transaction("checkout", 1, 1)}, {unknown}),
          "\n                      now        1   1.00 s   1.00 s        -        -        -\n"
          "                                0%       0%       0%\n"));
}

TEST(ShownComparison, KeepsToItsColumnsAndLines) {
  std::vector<Tag> before;
  std::vector<Tag> now;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i) + std::string(200, 'x') + "\x1b\n\xff";
    before.push_back(transaction(name, 1e9, 1e-9));
    now.push_back(transaction(name, 1, 1e9));
    before.push_back(transaction("old" + name, 1, 1));
    before.push_back(made_tag(TraceType::Point, name, 5));
    now.push_back(made_tag(TraceType::Point, name, 5));
  }
  for (const std::size_t columns : {60U, 80U, 99U, 120U}) {
    const auto lines =
        lines_of(shown(run_of(before), run_of(now), {false, false, columns}, Verdict::Real,
                       {999'999, 1e6, TagKey(TraceType::Transact, std::string(200, 'x'))}));
    EXPECT_LE(lines.size(), 60U);
    for (const std::string& line : lines) {
      EXPECT_LE(columns_of(line), columns) << line;
      EXPECT_FALSE(has(line, "\x1b"));
    }
  }
}

}  // namespace
}  // namespace pcp::trace::command
