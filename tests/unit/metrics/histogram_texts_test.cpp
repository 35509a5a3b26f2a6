// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/cumulative_histogram.hpp"
#include "metrics/fetcher.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using std::chrono::seconds;

constexpr WallTime kWall{std::chrono::hours(500'000)};

// An agent with more room than the fixture's. Its wall clock shows kWall at its start.
class HistogramTextsTest : public MetricsFixture {
 protected:
  static EngineOptions options(std::size_t max_bytes) {
    EngineOptions options = engine_options();
    options.max_tags = 10'000;
    options.max_cumulative_bytes = max_bytes;
    return options;
  }

  struct Agent {
    Agent(Instant now, std::size_t max_bytes = 64 << 20)
        : shared(options(max_bytes), {}, now, kWall),
          metrics({kDomain, {}, 0}, Reader(shared), now) {}

    Shared shared;
    Metrics metrics;
  };

  void observe(const std::string& tag, double value) {
    agent_.shared.engine.apply_value(agent_.shared.engine.tag(TraceType::Observe, tag), value,
                                     now_);
  }

  // Each bin takes two bytes.
  static std::string packed_bins(int bins) {
    Histogram histogram;
    for (int i = 0; i < bins; ++i) histogram.add_bin(32736 + 2 * i, 0, 1);
    std::string packed;
    histogram.pack(packed);
    return packed;
  }

  void apply_packed(Agent& agent, TraceType type, const std::string& tag,
                    const std::string& packed) {
    Delta delta;
    EXPECT_TRUE(Histogram::read_packed_total(packed, delta.count));
    agent.shared.engine.apply(agent.shared.engine.tag(type, tag), delta, packed, {}, now_);
  }

  using Texts = std::map<int, std::string>;

  static Texts texts_of(const pmValueSet& set) {
    Texts texts;
    for (int i = 0; i < set.numval; ++i) {
      EXPECT_EQ(set.vlist[i].value.pval->vtype, PM_TYPE_STRING);
      const std::size_t size = set.vlist[i].value.pval->vlen - PM_VAL_HDR_SIZE;
      texts[set.vlist[i].inst] = std::string(set.vlist[i].value.pval->vbuf, size - 1);
    }
    return texts;
  }

  std::vector<Texts> fetch_all(Agent& agent, const std::vector<std::string>& names,
                               const pmProfile* profile = nullptr) {
    std::vector<pmID> ids;
    for (const std::string& name : names) ids.push_back(pmid(name));
    const pmapi::AgentResult* const result =
        agent.metrics.fetch(ids.data(), ids.size(), profile, now_);
    std::vector<Texts> texts;
    for (int i = 0; i < result->numpmid; ++i) texts.push_back(texts_of(*result->vset[i]));
    agent.metrics.release();
    return texts;
  }

  Texts observed(const pmProfile* profile = nullptr) {
    return fetch_all(agent_, {"tracing.histogram.observe"}, profile).front();
  }

  std::uint64_t status(Agent& agent, const std::string& name) {
    const pmID id = pmid(name);
    const pmapi::AgentResult* const result = agent.metrics.fetch(&id, 1, nullptr, now_);
    pmAtomValue atom{};
    EXPECT_EQ(pmExtractValue(result->vset[0]->valfmt, &result->vset[0]->vlist[0], PM_TYPE_U64,
                             &atom, PM_TYPE_U64),
              0);
    return atom.ull;
  }

  Agent agent_{now_};
};

TEST_F(HistogramTextsTest, AreOfWhatIsCompletedSinceTheFirstFetch) {
  observe("a", 1);
  now_ += seconds(2);
  observe("a", 2);
  const std::string since = std::to_string((kWall + seconds(2)).time_since_epoch().count());
  EXPECT_EQ(observed(), (Texts{{1, "1 " + since + " 0 0 0 -"}}));
  observe("a", 3);
  now_ += seconds(2);
  Histogram expected;
  expected.add(2);
  expected.add(3);
  const auto parsed = parse_cumulative_histogram(observed()[1]);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(std::to_string(parsed->since_ns), since);
  EXPECT_EQ(parsed->histogram.total(), 2u);
  EXPECT_EQ(parsed->histogram.quantile(0), expected.quantile(0));
  EXPECT_EQ(parsed->histogram.quantile(1), expected.quantile(1));
}

TEST_F(HistogramTextsTest, CostNothingAsLongAsOnlyOtherMetricsAreFetched) {
  for (int i = 0; i < 10; ++i, now_ += seconds(1)) {
    observe("a", i);
    for (const Metric& metric : agent_.metrics.table()) {
      if (std::string_view(metric.name).starts_with("tracing.")) continue;
      const pmID id = pmid(metric.name);
      agent_.metrics.fetch(&id, 1, nullptr, now_);
    }
  }
  EXPECT_EQ(status(agent_, "trace.agent.memory.cumulative"), 0u);
  observed();
  observe("a", 1);
  now_ += seconds(2);
  observed();
  EXPECT_GT(status(agent_, "trace.agent.memory.cumulative"), 0u);
}

TEST_F(HistogramTextsTest, AreOfTheTagsThatTheProfileIncludes) {
  for (const char* tag : {"a", "b", "c"}) observe(tag, 1);
  int some[] = {3, 1};
  pmInDomProfile observations{indom(kObserveIndom), PM_PROFILE_EXCLUDE, 2, some};
  pmProfile profile{PM_PROFILE_INCLUDE, 1, &observations};
  const Texts shown = observed(&profile);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_TRUE(shown.contains(1) && shown.contains(3));
}

TEST_F(HistogramTextsTest, ComeBesideOtherValuesAndAsOftenAsTheyAreAsked) {
  observe("a", 1);
  const std::vector<pmID> ids{pmid("tracing.histogram.observe"), pmid("trace.observe.count"),
                              pmid("tracing.histogram.observe"),
                              pmid("tracing.histogram.transact")};
  const pmapi::AgentResult* const result =
      agent_.metrics.fetch(ids.data(), ids.size(), nullptr, now_);
  EXPECT_EQ(result->vset[1]->numval, 1);
  EXPECT_EQ(result->vset[3]->numval, 0);
  EXPECT_EQ(texts_of(*result->vset[0]).size(), 1u);
  EXPECT_EQ(texts_of(*result->vset[0]), texts_of(*result->vset[2]));
}

std::size_t bytes_of(const std::map<int, std::string>& texts) {
  std::size_t bytes = 0;
  for (const auto& [instance, text] : texts) bytes += text.size();
  return bytes;
}

// The same few tags are asked for many times in one fetch, in place of many tags.
TEST_F(HistogramTextsTest, BeyondWhatAnAnswerTakesAreLeftOutAndCounted) {
  constexpr std::size_t kTimes = 50;
  const std::vector<std::string> observations(kTimes, "tracing.histogram.observe");
  std::vector<std::string> both(kTimes, "tracing.histogram.transact");
  both.push_back("tracing.histogram.abort");  // none has failed: nothing of it is left out
  both.insert(both.end(), observations.begin(), observations.end());
  fetch_all(agent_, both);
  constexpr std::size_t kTags = 40;
  const std::string great = packed_bins(2000);
  const std::string small = packed_bins(1);
  for (std::size_t i = 1; i <= kTags; ++i) {
    apply_packed(agent_, TraceType::Transact, std::to_string(i), great);
    apply_packed(agent_, TraceType::Observe, std::to_string(i), i < kTags ? great : small);
  }
  now_ += seconds(2);
  const auto texts = fetch_all(agent_, both);
  EXPECT_EQ(texts.front().size(), kTags);
  const std::size_t bytes = kTimes * (bytes_of(texts.front()) + bytes_of(texts.back()));
  EXPECT_LE(bytes, Fetcher::kMaxHistogramBytes);
  EXPECT_GT(bytes, Fetcher::kMaxHistogramBytes - kTimes * bytes_of(texts.front()) / kTags);
  const std::size_t left_out = kTags - texts.back().size();
  EXPECT_GT(left_out, 1u);
  EXPECT_EQ(status(agent_, "trace.agent.histograms.left_out"), left_out);
  // The last ones are left out, even one that would still fit.
  EXPECT_EQ(texts.back().rbegin()->first, static_cast<int>(texts.back().size()));
  EXPECT_EQ(fetch_all(agent_, observations).front().size(), kTags);
  EXPECT_EQ(status(agent_, "trace.agent.histograms.left_out"), left_out);
}

TEST_F(HistogramTextsTest, ForWhichTheAgentHadNoRoomAreLeftOutAndCounted) {
  Agent agent(now_, 1);
  fetch_all(agent, {"tracing.histogram.observe"});
  for (int i = 0; i < 20; ++i, now_ += seconds(2)) {  // soon all is as coarse as possible
    apply_packed(agent, TraceType::Observe, "a", packed_bins(10));
    while (agent.shared.engine.rotate(now_, 1)) continue;
  }
  for (std::uint64_t i = 1; i < 4; ++i) {
    EXPECT_EQ(fetch_all(agent, {"tracing.histogram.observe"}).front(), Texts{});
    EXPECT_EQ(status(agent, "trace.agent.histograms.left_out"), i);
  }
}

}  // namespace
}  // namespace pcp::trace::agent
