// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/comparison.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/histograms.hpp"
#include "unit/command/made_tags.hpp"

namespace pcp::trace::command {
namespace {

constexpr std::size_t kSeconds = 12;

using Random = std::mt19937_64;

// A recording with samples one second apart.
class MadeRun {
 public:
  explicit MadeRun(std::size_t seconds = kSeconds) : seconds_(seconds) {
    for (std::size_t i = 0; i <= seconds; ++i)
      model_.fine.edges.push_back(WallTime(std::chrono::seconds(1'800'000'000 + i)));
    model_.run.begin = model_.fine.edges.front();
    model_.run.end = model_.fine.edges.back();
  }

  struct Second {
    std::vector<double> durations;
    double failed = 0;
  };

  // Adds a transaction.
  MadeRun& add(const std::string& name, const std::function<Second(std::size_t)>& second) {
    Tag tag = made_transaction(name, 0);
    tag.sum = 0;
    tag.distribution.emplace();
    tag.percentile_source = PercentileSource::Histogram;
    Series series;
    series.tag = model_.tags.size();
    for (std::size_t i = 0; i < seconds_; ++i) {
      const Second its = second(i);
      const double sum = std::accumulate(its.durations.begin(), its.durations.end(), 0.0);
      Histogram values = histogram_of(its.durations);
      tag.calls += static_cast<double>(its.durations.size());
      *tag.failed += its.failed;
      *tag.sum += sum;
      tag.distribution->merge(values);
      series.of(Quantity::Calls).push_back(static_cast<float>(its.durations.size()));
      series.of(Quantity::Failed).push_back(static_cast<float>(its.failed));
      series.of(Quantity::Sum).push_back(static_cast<float>(sum));
      if (!values.empty())
        series.histograms.push_back(
            {model_.fine.edges[i], model_.fine.edges[i + 1], std::move(values)});
    }
    tag.mean = *tag.sum / tag.calls;
    tag.rate = tag.calls / static_cast<double>(seconds_);
    for (std::size_t i = 0; i < kPercentiles.size(); ++i)
      tag.percentiles[i] = tag.distribution->quantile(kPercentiles[i]);
    tag.max = Extreme{tag.percentiles[kP999].value(), true};
    model_.tags.push_back(std::move(tag));
    model_.series.push_back(std::move(series));
    return *this;
  }

  const Model& model() const { return model_; }
  Side side() const {
    Side side{model_, {}, {}};
    side.pieces.add(model_);
    side.pieces.finish();
    return side;
  }

 private:
  std::size_t seconds_;
  Model model_;
};

MadeRun::Second some(Random& random, double factor, int calls = 100, double failed = 0) {
  std::lognormal_distribution<double> duration(-7, 0.3);
  MadeRun::Second second{{}, failed};
  for (int i = 0; i < calls; ++i) second.durations.push_back(factor * duration(random));
  return second;
}

// Ten calls a second, each of this duration.
MadeRun steady(double duration) {
  return MadeRun().add("a", [=](auto) {
    return MadeRun::Second{std::vector<double>(10, duration), 0};
  });
}

Verdict verdict(const Comparison& comparison, Figure figure, std::size_t tag = 0) {
  return comparison.tags.at(tag).of(figure).verdict;
}

TEST(Comparison, FindsATagThatIsAFifthSlower) {
  Random random(1);
  const auto run = [&](double factor_of_b) {
    return MadeRun().add("a", [&](auto) { return some(random, 1); }).add("b", [&](auto) {
      return some(random, factor_of_b);
    });
  };
  const MadeRun before = run(1);
  const MadeRun now = run(1.2);
  const Comparison found = compare(before.side(), now.side());
  EXPECT_EQ(found.tags.at(0).now->name, "b");  // it lost more
  for (const Figure figure : {Figure::Mean, Figure::P50, Figure::P90}) {
    EXPECT_EQ(verdict(found, figure, 0), Verdict::Real) << row_of(figure).word;
    EXPECT_EQ(verdict(found, figure, 1), Verdict::Noise) << row_of(figure).word;
  }
  for (const Figure figure : {Figure::Total, Figure::Rate, Figure::Max})
    EXPECT_EQ(verdict(found, figure), Verdict::NotJudged) << row_of(figure).word;
  EXPECT_NEAR(found.tags[0].lost_s.value(), 0.2 * *found.tags[0].before->sum,
              0.05 * *found.tags[0].before->sum);
}

// One step takes nearly all the time and is called ten times as often: nothing hides that.
TEST(Comparison, HasSumsAsTheyAreUnlessTheyAreDivided) {
  Random random(3);
  MadeRun before(12);
  MadeRun now(24);
  for (MadeRun* const run : {&before, &now}) {
    run->add("request", [&](auto) { return some(random, 0.01, 100, 10); });
    run->add("query", [&](auto) { return some(random, 1, run == &now ? 1000 : 100); });
  }
  const auto query = [&](const Divisors& divisors, Figure figure) {
    const Comparison found = compare(before.side(), now.side(), divisors);
    const ComparedTag& its = found.tags.at(0);
    EXPECT_EQ(its.now->name, "query");
    EXPECT_EQ(its.of(Figure::Calls).verdict, Verdict::NotJudged);
    EXPECT_DOUBLE_EQ(*its.lost_s, *its.of(Figure::Total).now - *its.of(Figure::Total).before);
    return std::pair(*its.of(figure).before, *its.of(figure).now);
  };
  const Divisors per_request = *calls_of("request", before.model(), now.model());
  EXPECT_EQ(query({}, Figure::Calls), std::pair(1200.0, 24000.0));
  EXPECT_EQ(query({2, 4, {}}, Figure::Calls), std::pair(600.0, 6000.0));
  EXPECT_EQ(query(per_request, Figure::Calls), std::pair(1.0, 10.0));  // failed requests count
  EXPECT_EQ(query(per_request, Figure::Mean), query({}, Figure::Mean));
}

TEST(Comparison, SetsNoCompletedCallsAgainstAllCalls) {
  Random random(1);
  const MadeRun run = MadeRun().add("a", [&](auto) { return some(random, 1); });
  Model stock = run.model();
  stock.tags[0].failed.reset();
  const Comparison found = compare(Side{stock, {}, {}}, run.side());
  for (const Figure figure : {Figure::Calls, Figure::Mean, Figure::Total, Figure::P99})
    EXPECT_FALSE(found.tags.at(0).of(figure).is_known()) << row_of(figure).word;
  EXPECT_TRUE(found.tags.at(0).of(Figure::Completed).is_known());
}

TEST(Comparison, IsPerCallsThatAreKnownInBothRuns) {
  const auto run = [&](double calls) {
    return Totals{{},
                  {made_tag(TraceType::Observe, "a", 1), made_transaction("a", calls),
                   made_tag(TraceType::Point, "none", calls - 3), made_transaction("b", calls),
                   made_tag(TraceType::Point, "s{n=0}", 1)}};
  };
  Totals before = run(3);
  Totals now = run(7);
  const Divisors divisors = *calls_of("a", before, now);
  EXPECT_EQ(std::tie(divisors.before, divisors.now), std::tuple(3, 7));
  EXPECT_EQ(divisors.tag, TagKey(TraceType::Transact, "a"));
  EXPECT_TRUE(calls_of("s{n=0}", before, now));
  now.tags[3].failed.reset();
  now.tags.push_back(made_tag(TraceType::Point, "new", 1));
  now.tags[4].folded = std::make_shared<const Tag>(made_tag(TraceType::Point, "s", 1));
  now.tags[1].folded = std::make_shared<const Tag>(made_transaction("a", 2));
  now.tags[1].is_folded = true;
  for (const auto& [name, why] :
       {std::pair("a", "calls of label sets that had no room may count for it"),
        std::pair("new", "no tag of this name is in both runs"),
        std::pair("s",
                  "no tag of this name is in both runs; its label sets are: --by name adds "
                  "them up"),
        std::pair("none", "it has no calls in one of the runs"),
        std::pair("b", "the number of its failed calls was not recorded"),
        std::pair("s{n=0}", "some of its calls may count without their labels")})
    EXPECT_EQ(calls_of(name, before, now).error().message, why);
  before.run.without_room = 1;
  EXPECT_EQ(calls_of("a", before, now).error().message, "the agent had no room for all tags");
}

// One in twenty is slow: the 95th percentile jumps from the fast ones to the slow ones.
TEST(Comparison, IsNotMisledByAPercentileInAGap) {
  const auto second = [](std::size_t slow) {
    MadeRun::Second made{std::vector<double>(100, 0.002), 0};
    for (std::size_t i = 0; i < slow; ++i) made.durations[i] = 0.040;
    return made;
  };
  constexpr std::array<std::size_t, kSeconds> kSlow{9, 1, 2, 6, 8, 1, 3, 7, 0, 5, 9, 3};
  const MadeRun before = MadeRun().add("a", [&](std::size_t i) { return second(kSlow[i]); });
  const MadeRun now = MadeRun().add("a", [&](std::size_t i) { return second(kSlow[i] + 1); });
  const Comparison found = compare(before.side(), now.side());
  const Difference& p95 = found.tags.at(0).of(Figure::P95);
  EXPECT_GT(*p95.now, 10 * *p95.before);
  EXPECT_EQ(p95.verdict, Verdict::Noise);
}

TEST(Comparison, FindsFailuresThatAreNew) {
  Random random(4);
  const MadeRun before = MadeRun().add("a", [&](auto) { return some(random, 1); });
  const MadeRun now = MadeRun().add("a", [&](auto) { return some(random, 1, 100, 10); });
  const Comparison found = compare(before.side(), now.side());
  EXPECT_EQ(verdict(found, Figure::FailedShare), Verdict::Real);
  EXPECT_EQ(verdict(found, Figure::Failed), Verdict::NotJudged);
}

TEST(Comparison, OfFewIntervalsJudgesNothing) {
  Random random(5);
  const MadeRun before = MadeRun(9).add("a", [&](auto) { return some(random, 1); });
  const MadeRun now = MadeRun(9).add("a", [&](auto) { return some(random, 9); });
  const Comparison found = compare(before.side(), now.side());
  EXPECT_EQ(verdict(found, Figure::Mean), Verdict::NotJudged);
  EXPECT_EQ(verdict(found, Figure::P50), Verdict::NotJudged);
}

// So little differs between two runs of one program.
TEST(Comparison, OfOneRunEachNeedsAChangeOfATwentieth) {
  for (const auto& [factor, expected] :
       {std::pair(1.045, Verdict::Noise), std::pair(1.055, Verdict::Real)})
    EXPECT_EQ(verdict(compare(steady(1).side(), steady(factor).side()), Figure::Mean), expected)
        << factor;
}

Side of_runs(const std::vector<MadeRun>& runs) {
  Side side{runs.front().model(), {}, {}};
  for (const MadeRun& run : runs) side.runs.push_back(run.model());
  return side;
}

TEST(Comparison, OfSeveralRunsIsJudgedByTheirSpread) {
  const auto runs = [](const std::vector<double>& durations) {
    std::vector<MadeRun> made;
    for (const double each : durations) made.push_back(steady(each));
    return made;
  };
  const auto before = runs({1.0, 1.001, 0.999});
  for (const auto& [durations, expected] :
       std::vector<std::pair<std::vector<double>, Verdict>>{{{1.2, 1.201, 1.199}, Verdict::Real},
                                                            {{1.02, 1.021, 1.019}, Verdict::Real},
                                                            {{1.2, 0.9, 1.6}, Verdict::Noise}}) {
    const auto now = runs(durations);
    const Comparison found = compare(of_runs(before), of_runs(now));
    EXPECT_TRUE(found.is_over_runs);
    EXPECT_EQ(verdict(found, Figure::Mean), expected) << durations[0];
    for (const Figure figure : {Figure::Max, Figure::Total, Figure::Rate})
      EXPECT_NE(verdict(found, figure), Verdict::NotJudged);
  }
  const auto few = runs({1.2, 1.2});
  const Comparison found = compare(of_runs(before), of_runs(few));
  EXPECT_FALSE(found.is_over_runs);
  EXPECT_EQ(verdict(found, Figure::Mean), Verdict::NotJudged);  // no pieces were read
}

// Ranks of a job: several archives of the same time.
TEST(Comparison, PutsPiecesOfSeveralArchivesInTheOrderOfTime) {
  Random random(6);
  const MadeRun one = MadeRun().add("a", [&](auto) { return some(random, 1); });
  RunPieces pieces;
  pieces.add(one.model());
  pieces.add(one.model());
  pieces.finish();
  const TagPieces* const a = pieces.find(TraceType::Transact, "a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->pieces.size(), 2 * kSeconds);
  for (std::size_t i = 1; i < a->pieces.size(); ++i)
    EXPECT_LE(a->pieces[i - 1].end, a->pieces[i].end);
  EXPECT_EQ(pieces.find(TraceType::Point, "a"), nullptr);
}

TEST(Comparison, KeepsFewPiecesOfALongRun) {
  const MadeRun run = MadeRun(3600).add("a", [](auto) { return MadeRun::Second{{1}, 0}; });
  const Side side = run.side();
  const TagPieces* const a = side.pieces.find(TraceType::Transact, "a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->pieces.size(), 24U);
  EXPECT_EQ(a->histograms.size(), 24U);
  double calls = 0;
  for (const RunPiece& piece : a->pieces) calls += piece.calls;
  EXPECT_EQ(calls, 3600);
}

}  // namespace
}  // namespace pcp::trace::command
