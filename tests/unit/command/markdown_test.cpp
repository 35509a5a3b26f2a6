// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/markdown.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/made_tags.hpp"
#include "unit/command/span_samples.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

using Outcome = Condition::Outcome;

Model run_of(std::vector<Tag> tags) {
  Model model;
  model.tags = std::move(tags);
  model.run.archives = {"app.trace/trace"};
  return model;
}

TEST(Markdown, OfARunHasItsTagsAndFindings) {
  const std::string text = markdown(run_of({made_transaction("checkout", 200, 0.01)}),
                                    {{Outcome::Passed, "passed: a", "a"},
                                     {Outcome::True, "true: b", "b"},
                                     {Outcome::Unknown, "unknown: c", "c"}});
  EXPECT_TRUE(begins(text, "`app.trace/trace`, "));
  EXPECT_TRUE(
      has(text,
          "| Transactions | calls | failed | failed% | total | mean | p50 | p95 | p99 | max |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
          "| `checkout` | 200 | 0 | 0% | 2.00 s | 10.0 ms | – | – | – | – |\n"));
  EXPECT_TRUE(has(text, "\n- `–` the stock agent and some recordings have no percentiles\n\n**"));
  EXPECT_TRUE(has(text,
                  "**Conditions:** 1 true, 1 unknown, 1 passed\n\n"
                  "- **!** `true: b`\n- **!** `unknown: c`\n- `passed: a`\n"));
}

TEST(Markdown, BeginsWithWhatHadNoRoom) {
  Model run = run_of({made_transaction("a", 2, 1)});
  run.run.without_room = 2;
  run.run.folded = run.tags;
  run.run.folded.push_back(made_transaction("b", 3, 1));
  run.run.folded.back().is_folded = true;
  EXPECT_TRUE(
      markdown(run, {}).starts_with("**folded:** `the agent had no room for the tags or labels of "
                                    "2 calls: raise its --max-tags; or report --by name, unless "
                                    "(overflow) has calls`\n\n**folded:** up to `3 calls of b` may "
                                    "be of tags or label sets that had no room\n\n`app.trace"))
      << markdown(run, {});
}

TEST(Markdown, BeginsWithWhatWasOpenWhenItsProcessDied) {
  Model run = run_of({});
  const SpanEvent pay = span_of("pay", 1, 0, 0, 5);
  run.spans.emplace().died = {2, {{pay, pay}}};
  EXPECT_TRUE(
      markdown(run, {}).starts_with("**died:** `pay was open for 5.00 ms in shop (pid 11) "
                                    "when the process died`\n\nand 1 more; whole requests: "
                                    "`pcp-trace spans -a app.trace/trace died`\n\n`app.trace"))
      << markdown(run, {});
}

TEST(Markdown, OfAComparisonMarksWhatIsReal) {
  const Model before = run_of({made_transaction("checkout", 200, 0.01)});
  const Model now = run_of({made_transaction("checkout", 300, 0.012)});
  const Divisors divisors{2, 3, TagKey(TraceType::Transact, "a`b")};
  Comparison comparison = compare(Side{before, {}, {}}, Side{now, {}, {}}, divisors);
  comparison.tags[0].changes[index_of(Figure::Mean)].verdict = Verdict::Real;
  const std::string text = markdown(before, now, comparison, {});
  EXPECT_TRUE(has(text,
                  "| `checkout` | 100 | 0 | 0% | 1.00 s → 1.20 s (+20%) | 10.0 ms → 12.0 ms "
                  "**+20%▲** |"));
  EXPECT_TRUE(
      has(text, "\n``calls, failed, total and added are per call of a`b: 2 before, 3 now``\n"));
  EXPECT_FALSE(has(text, "Conditions"));
}

TEST(Markdown, KeepsEachNameInItsCell) {
  EXPECT_EQ(markdown_code("a"), "`a`");
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("``"), "``` `` ```");
  EXPECT_EQ(markdown_code(" a"), "`  a `");
  EXPECT_TRUE(has(markdown(run_of({made_transaction("a|b\n@user <b>\\|\xff", 1, 1)}), {}),
                  "\n| `a\\|b\\x0a@user <b>\\\\|\\xff` | 1 |"));
}

TEST(Markdown, IsShortEnoughForAComment) {
  constexpr std::size_t kMostOfGitHub = 65'536;
  const auto run = [](double calls, double mean) {
    std::vector<Tag> tags;
    for (int i = 1000; i < 2000; ++i)
      tags.push_back(
          made_transaction(std::string(200, '|') + "`" + std::to_string(i), calls, mean));
    return run_of(tags);
  };
  const Model before = run(1, 1);
  const Model now = run(2, 1e-3);
  const Comparison comparison = compare(Side{before, {}, {}}, Side{now, {}, {}});
  const std::vector<Condition::Finding> findings(1000, {Outcome::True, std::string(1000, 'x'), ""});
  const std::string text = markdown(before, now, comparison, findings);
  EXPECT_LT(text.size(), kMostOfGitHub);
  EXPECT_TRUE(has(text, "and 970 more tags\n"));
  EXPECT_TRUE(has(text, "- and 970 more\n"));
  EXPECT_LT(markdown(now, findings).size(), kMostOfGitHub);
}

}  // namespace
}  // namespace pcp::trace::command
