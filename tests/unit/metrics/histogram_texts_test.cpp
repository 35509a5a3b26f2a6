// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/cumulative_histogram.hpp"
#include "metrics/fetcher.hpp"
#include "support/histograms.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using std::chrono::seconds;

constexpr const char* kTransactions = "tracing.histogram.transact";
constexpr const char* kObservations = "tracing.histogram.observe";

class HistogramTextsTest : public MetricsFixture {
 protected:
  explicit HistogramTextsTest(std::size_t max_bytes = 64 << 20)
      : MetricsFixture(10'000, max_bytes) {}

  void observe(const std::string& tag, double value) { apply(TraceType::Observe, tag, value); }

  // Each bin takes two bytes.
  static std::string packed_bins(int bins) {
    Histogram histogram;
    for (int i = 0; i < bins; ++i) histogram.add_bin(32736 + 2 * i, 0, 1);
    return packed(histogram);
  }

  void apply_packed(TraceType type, const std::string& tag, const std::string& packed) {
    Delta delta;
    EXPECT_TRUE(Histogram::read_packed_total(packed, delta.count));
    shared_.engine.apply(shared_.engine.tag(type, tag), delta, packed, {}, now_);
  }

  Texts observed(const pmProfile* profile = nullptr) {
    return fetch_texts({kObservations}, profile).front();
  }

  double status(const std::string& name) { return fetch("trace.agent." + name).begin()->second; }
};

TEST_F(HistogramTextsTest, AreOfWhatIsCompletedSinceTheFirstFetch) {
  observe("a", 1);
  now_ += seconds(2);
  observe("a", 2);
  const std::string since = std::to_string((kWall + seconds(2)).time_since_epoch().count());
  EXPECT_EQ(observed(), (Texts{{1, "1 " + since + " 0 0 0 -"}}));
  observe("a", 3);
  now_ += seconds(2);
  const Histogram expected = histogram_of({2, 3});
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
    for (const Metric& metric : metrics_.table()) {
      if (std::string_view(metric.name).starts_with("tracing.")) continue;
      const pmID id = pmid(metric.name);
      metrics_.fetch(&id, 1, nullptr, now_);
    }
  }
  EXPECT_EQ(status("memory.cumulative"), 0);
  observed();
  observe("a", 1);
  now_ += seconds(2);
  observed();
  EXPECT_GT(status("memory.cumulative"), 0);
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
  const std::vector<pmID> ids{pmid(kObservations), pmid("trace.observe.count"), pmid(kObservations),
                              pmid(kTransactions), pmid("tracing.histogram.abort")};
  const pmapi::AgentResult* const result = metrics_.fetch(ids.data(), ids.size(), nullptr, now_);
  EXPECT_EQ(result->vset[1]->numval, 1);
  EXPECT_EQ(result->vset[3]->numval, 0);
  ASSERT_NE(result->vset[4], nullptr);
  EXPECT_EQ(result->vset[4]->numval, 0);
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
  const std::vector<std::string> observations(kTimes, kObservations);
  std::vector<std::string> both(kTimes, kTransactions);
  both.push_back("tracing.histogram.abort");  // none has failed: nothing of it is left out
  both.insert(both.end(), observations.begin(), observations.end());
  fetch_texts(both);
  constexpr std::size_t kTags = 40;
  const std::string great = packed_bins(2000);
  const std::string small = packed_bins(1);
  for (std::size_t i = 1; i <= kTags; ++i) {
    apply_packed(TraceType::Transact, std::to_string(i), great);
    apply_packed(TraceType::Observe, std::to_string(i), i < kTags ? great : small);
  }
  now_ += seconds(2);
  const auto texts = fetch_texts(both);
  EXPECT_EQ(texts.front().size(), kTags);
  const std::size_t bytes = kTimes * (bytes_of(texts.front()) + bytes_of(texts.back()));
  EXPECT_LE(bytes, Fetcher::kMaxHistogramBytes);
  EXPECT_GT(bytes, Fetcher::kMaxHistogramBytes - kTimes * bytes_of(texts.front()) / kTags);
  const auto left_out = static_cast<double>(kTags - texts.back().size());
  EXPECT_GT(left_out, 1);
  EXPECT_EQ(status("histograms.left_out"), left_out);
  // The last ones are left out, even one that would still fit.
  EXPECT_EQ(texts.back().rbegin()->first, static_cast<int>(texts.back().size()));
  EXPECT_EQ(fetch_texts(observations).front().size(), kTags);
  EXPECT_EQ(status("histograms.left_out"), left_out);
}

struct HistogramTextsWithoutRoom : HistogramTextsTest {
  HistogramTextsWithoutRoom() : HistogramTextsTest(1) {}
};

TEST_F(HistogramTextsWithoutRoom, AreLeftOutAndCounted) {
  observed();
  for (int i = 0; i < 20; ++i, now_ += seconds(2)) {  // soon all is as coarse as possible
    apply_packed(TraceType::Observe, "a", packed_bins(10));
    while (shared_.engine.rotate(now_, 1)) continue;
  }
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(observed(), Texts{});
    EXPECT_EQ(status("histograms.left_out"), i);
  }
}

}  // namespace
}  // namespace pcp::trace::agent
