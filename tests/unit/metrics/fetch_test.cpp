// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <thread>

#include "metrics/fetcher.hpp"
#include "support/histograms.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using std::chrono::seconds;
using Values = std::map<int, double>;

class Fetch : public MetricsFixture {
 protected:
  Values fetched(const std::string& name) { return fetch("trace.transact." + name); }
  void expect_none(const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_EQ(fetched(name), Values{}) << name;
  }
};

TEST_F(Fetch, GivesCountsTotalsAndLastValuesAtOnce) {
  EXPECT_EQ(fetch("trace.observe.count"), Values{});
  apply(TraceType::Observe, "a", 2);
  apply(TraceType::Observe, "a", 5);
  apply(TraceType::Observe, "b", 7);
  EXPECT_EQ(fetch("trace.observe.count"), (Values{{1, 2}, {2, 1}}));
  EXPECT_EQ(fetch("trace.observe.sum"), (Values{{1, 7}, {2, 7}}));
  EXPECT_EQ(fetch("trace.observe.value"), (Values{{1, 5}, {2, 7}}));
}

TEST_F(Fetch, GivesWindowMetricsOnceTheIntervalIsCompleteAndForOnePeriod) {
  for (const double value : {1.0, 2.0, 6.0}) apply(TraceType::Transact, "a", value);
  EXPECT_EQ(fetched("rate"), Values{});
  now_ += seconds(2);
  EXPECT_NEAR(fetched("rate")[1], 0.3, 1e-6);
  EXPECT_EQ(fetched("ave_time"), (Values{{1, 3}}));
  EXPECT_EQ(fetched("min_time"), (Values{{1, 1}}));
  EXPECT_EQ(fetched("max_time"), (Values{{1, 6}}));
  EXPECT_NEAR(fetched("p50")[1], 2, 0.04);
  now_ += seconds(10);
  expect_none({"rate", "ave_time", "min_time", "max_time", "p50"});
  EXPECT_EQ(fetched("count"), (Values{{1, 3}}));
}

TEST_F(Fetch, GivesEachMetricOfAWindowItsOwnValue) {
  for (int value = 1; value <= 1000; ++value)
    for (const TraceType type : {TraceType::Transact, TraceType::Observe}) apply(type, "a", value);
  now_ += seconds(2);
  for (const std::string of : {"trace.transact.", "trace.observe."})
    for (const auto& [name, exact] :
         {std::pair("p50", 500), {"p90", 900}, {"p95", 950}, {"p99", 990}, {"p999", 999}})
      EXPECT_NEAR(fetch(of + name)[1], exact, 0.02 * exact) << of << name;
  EXPECT_EQ(fetch("trace.observe.min"), (Values{{1, 1}}));
  EXPECT_EQ(fetch("trace.observe.max"), (Values{{1, 1000}}));
}

TEST_F(Fetch, SaysHowFarOffPercentilesMayBe) {
  apply(TraceType::Transact, "a", 1);
  Delta delta;
  delta.add(1);
  shared_.engine.apply(shared_.engine.tag(TraceType::Observe, "a"), delta,
                       packed(histogram_of({1}, 2)), {}, now_);
  EXPECT_EQ(fetched("percentile_error"), Values{});
  now_ += seconds(2);
  EXPECT_EQ(fetched("percentile_error"), (Values{{1, 1 / 64.0}}));
  EXPECT_EQ(fetch("trace.observe.percentile_error"), (Values{{1, 4 / 64.0}}));
  now_ += seconds(10);
  EXPECT_EQ(fetched("percentile_error"), Values{});
}

TEST_F(Fetch, KeepsWhatIsNotFiniteOutOfMeansButShowsItAsLastValue) {
  apply(TraceType::Observe, "a", 4);
  apply(TraceType::Observe, "a", std::nan(""));
  apply(TraceType::Observe, "b", HUGE_VAL);
  now_ += seconds(2);
  EXPECT_EQ(fetch("trace.observe.ave"), (Values{{1, 4}}));
  EXPECT_EQ(fetch("trace.observe.rate").size(), 2);
  EXPECT_TRUE(std::isnan(fetch("trace.observe.value")[1]));
  EXPECT_EQ(fetch("trace.observe.value")[2], HUGE_VAL);
}

TEST_F(Fetch, GivesACounterTheValuesThatItHas) {
  const auto add = [this](const char* tag, double sum) {
    Delta delta;
    delta.count = 2;
    delta.sum = sum;
    shared_.engine.apply_increments(shared_.engine.tag(TraceType::Counter, tag), delta, {}, now_);
  };
  apply(TraceType::Counter, "set", 7);
  add("added", 40);
  add("both", 1);
  apply(TraceType::Counter, "both", 9);
  EXPECT_EQ(fetch("trace.counter.value"), (Values{{1, 7}, {3, 9}}));
  EXPECT_EQ(fetch("trace.counter.total"), (Values{{2, 40}, {3, 1}}));
  EXPECT_EQ(fetch("trace.counter.count"), (Values{{1, 1}, {2, 2}, {3, 3}}));
}

TEST_F(Fetch, GivesNoRateButTheDurationsOfATagThatOnlyFails) {
  const auto fail = [this](const char* tag, const Delta& failed) {
    shared_.engine.apply_failures(shared_.engine.tag(TraceType::Transact, tag), failed, {}, {},
                                  now_);
  };
  Delta failed;
  for (const double each : {3, 1, 2}) failed.add(each);
  fail("a", failed);
  Delta untimed;  // from an older library
  untimed.count = untimed.nonfinite = 1;
  fail("b", failed);
  fail("b", untimed);
  now_ += seconds(2);
  EXPECT_EQ(fetched("aborts"), (Values{{1, 3}, {2, 4}}));
  EXPECT_EQ(fetched("abort_time"), (Values{{1, 6}}));
  EXPECT_EQ(fetched("abort_min"), (Values{{1, 1}}));
  EXPECT_EQ(fetched("abort_rate"), (Values{{1, 0.3F}, {2, 0.4F}}));
  EXPECT_EQ(fetched("abort_max"), (Values{{1, 3}}));
  EXPECT_EQ(fetched("count"), (Values{{1, 0}, {2, 0}}));
  EXPECT_EQ(fetched("rate"), Values{});
}

TEST_F(Fetch, GivesWhatIsInFlightOfEachTag) {
  const auto enter = [this](const char* tag, const OpenShare& share) {
    return shared_.engine.enter(shared_.engine.tag(TraceType::Transact, tag), share, now_);
  };
  const auto where = [this] { return fetch_texts({"trace.transact.oldest_where"}).front(); };
  apply(TraceType::Transact, "a", 1);
  const OpenShare of_b{1, 3, now_ - seconds(2), 4711, 4715};
  const TagIndex b = enter("b", of_b);
  enter("c", {2, 1, now_, 4000000000, 0});
  enter("nobody knows", {3, 1, now_, 0, 0});
  EXPECT_EQ(type_of(pmid("trace.transact.oldest_where")), PM_TYPE_STRING);
  now_ += seconds(3);
  EXPECT_EQ(fetched("inflight"), (Values{{1, 0}, {2, 3}, {3, 1}, {4, 1}}));
  EXPECT_EQ(fetched("oldest"), (Values{{1, 0}, {2, 5}, {3, 3}, {4, 3}}));
  EXPECT_EQ(where(), (Texts{{2, "4711/4715"}, {3, "4000000000"}}));
  shared_.engine.leave(b, of_b);
  shared_.engine.vanish(b, of_b.open, now_);
  EXPECT_EQ(fetched("vanished"), (Values{{1, 0}, {2, 3}, {3, 0}, {4, 0}}));
  EXPECT_EQ(where(), (Texts{{3, "4000000000"}}));
}

TEST_F(Fetch, GivesNothingElseOfATagThatHasNeverEnded) {
  const TagIndex tag = shared_.engine.tag(TraceType::Transact, "a");
  shared_.engine.enter(tag, {1, 1, now_, 1, 1}, now_);
  now_ += seconds(2);
  EXPECT_EQ(fetched("inflight"), (Values{{1, 1}}));
  expect_none({"count", "total_time", "aborts", "abort_time", "abort_max", "rate", "ave_time",
               "min_time", "max_time", "p50", "percentile_error"});
}

TEST_F(Fetch, GivesTheInstancesThatTheProfileIncludes) {
  for (const char* tag : {"a", "b", "c"}) apply(TraceType::Point, tag, -1);
  int some[] = {3, 1};
  pmInDomProfile points{indom(1), PM_PROFILE_EXCLUDE, 2, some};
  pmProfile profile{PM_PROFILE_INCLUDE, 1, &points};
  EXPECT_EQ(fetch("trace.point.count", &profile), (Values{{1, 1}, {3, 1}}));
  points.state = PM_PROFILE_INCLUDE;
  EXPECT_EQ(fetch("trace.point.count", &profile), (Values{{2, 1}}));
  points.indom = indom(2);
  EXPECT_EQ(fetch("trace.point.count", &profile).size(), 3);
  profile.state = PM_PROFILE_EXCLUDE;
  EXPECT_EQ(fetch("trace.point.count", &profile), Values{});
}

TEST_F(Fetch, NamesTheMetricsThatItDoesNotKnow) {
  const pmID ids[] = {pmID_build(kDomain, 0, 99), pmid("trace.control.port")};
  const pmapi::AgentResult* const result = metrics_.fetch(ids, 2, nullptr, now_);
  EXPECT_EQ(result->vset[0]->numval, PM_ERR_PMID);
  EXPECT_EQ(result->vset[1]->numval, 1);
}

TEST_F(Fetch, GivesTheSettings) {
  const int alone = static_cast<int>(PM_IN_NULL);
  EXPECT_EQ(fetch("trace.control.period"), (Values{{alone, 10}}));
  EXPECT_EQ(fetch("trace.control.interval"), (Values{{alone, 2}}));
  EXPECT_EQ(fetch("trace.control.buckets"), (Values{{alone, 5}}));
  EXPECT_EQ(fetch("trace.control.port"), (Values{{alone, 4323}}));
  EXPECT_EQ(fetch("trace.control.reset"), (Values{{alone, 1}}));
  now_ += seconds(7);
  EXPECT_EQ(fetch("trace.agent.uptime"), (Values{{alone, 7}}));
  const double started = fetch("trace.agent.started").at(alone);
  EXPECT_EQ(fetch("trace.agent.reset").at(alone), started);
  shared_.engine.reset(now_);
  EXPECT_EQ(fetch("trace.agent.started").at(alone), started);
  EXPECT_EQ(fetch("trace.agent.reset").at(alone), started + 7);
}

TEST_F(Fetch, GivesTheIngestsCounters) {
  shared_.counters.refused_quota = 3;
  shared_.counters.busy_ns = 12345;
  EXPECT_EQ(fetch("trace.agent.refused.quota").begin()->second, 3);
  EXPECT_EQ(fetch("trace.agent.cpu.ingest").begin()->second, 12345);
  EXPECT_GT(fetch("trace.agent.memory.resident").begin()->second, 0);
}

TEST(ValueSetTest, TakesNoMoreThanItHasRoomFor) {
  ValueSet set(1, PM_TYPE_32, 1);
  pmAtomValue value{};
  value.l = 5;
  set.add(7, value);
  value.l = 6;
  set.add(8, value);
  ASSERT_EQ(set.get()->numval, 1);
  EXPECT_EQ(set.get()->vlist[0].inst, 7);
  EXPECT_EQ(set.get()->vlist[0].value.lval, 5);
}

struct FetchOfManyTags : MetricsFixture {
  FetchOfManyTags() : MetricsFixture(20'000) {}
};

TEST_F(FetchOfManyTags, LooksAtAllHoweverManySlicesTheyTake) {
  for (int i = 0; i < 2000; ++i) apply(TraceType::Point, "tag" + std::to_string(i), -1);
  EXPECT_EQ(fetch("trace.point.count").size(), 2000);
}

// The address sanitizer sees a set that is written beyond its end.
TEST_F(FetchOfManyTags, GoesWellWhileTagsBegin) {
  std::thread program([this] {
    for (int tag = 0; tag < 20'000; ++tag) {
      const Lock lock(shared_.mutex);
      apply(TraceType::Observe, "tag" + std::to_string(tag), 1);
    }
  });
  const pmID histograms = pmid("tracing.histogram.observe");
  for (int seen = 0; seen < 20'000;) {
    seen = metrics_.fetch(&histograms, 1, nullptr, now_)->vset[0]->numval;
    metrics_.release();
  }
  program.join();
}

}  // namespace
}  // namespace pcp::trace::agent
