// SPDX-License-Identifier: LGPL-2.1-or-later
// tests/views tests how a browser shows the data.
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "command/show/page/page.hpp"
#include "command/show/trace_json.hpp"
#include "support/histograms.hpp"
#include "unit/command/made_tags.hpp"
#include "unit/command/span_samples.hpp"

namespace pcp::trace::command {
namespace {

constexpr WallTime kBegin{std::chrono::seconds(1'790'000'000)};
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// The unpacked data of a page.
struct Unpacked {
  std::string document;
  std::vector<float> floats;
  bool has(std::string_view part) const { return document.find(part) != document.npos; }
};

Unpacked unpacked(const Model& model, const Comparison* comparison = nullptr) {
  const std::string bytes = page_data(model, comparison);
  const auto byte = [&](std::size_t at) {
    return std::uint32_t{static_cast<unsigned char>(bytes.at(at))};
  };
  const std::size_t length = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  Unpacked data{bytes.substr(4, length), {}};
  const std::size_t begin = 4 + length;
  const std::size_t count = (bytes.size() - begin) / 4;
  EXPECT_EQ(begin + 4 * count, bytes.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    for (std::size_t plane = 0; plane < 4; ++plane)
      bits |= byte(begin + plane * count + i) << 8 * plane;
    data.floats.push_back(std::bit_cast<float>(bits));
  }
  return data;
}

TEST(PageData, HasTheSlowestTracesIfSpansWereAskedFor) {
  Model model;
  EXPECT_FALSE(unpacked(model).has(R"("spans":)"));
  const SpanTrace trace = trace_of({span_of("request", 1, 0)});
  model.spans = RecordedSpans{3, 1000, 7, {trace}};  // as in model_json_test.cpp
  const std::string line = trace_json(trace);
  EXPECT_TRUE(unpacked(model).has(R"("spans":{"traces":3,"spans":1000,"missed":7,)"));
  EXPECT_TRUE(unpacked(model).has(R"("slowest":[)" + line.substr(0, line.size() - 1) + "]}"));
}

Tag transaction(const std::string& name, double calls, const std::vector<double>& values = {}) {
  Tag tag = made_transaction(name, calls);
  tag.failed = 1;
  tag.percentile_source = PercentileSource::SeveralWindows;
  if (values.empty()) return tag;
  tag.percentile_source = PercentileSource::Histogram;
  tag.distribution = histogram_of(values);
  tag.percentiles[kP50] = tag.distribution->quantile(0.5);
  return tag;
}

Model model_of(std::vector<Tag> tags) {
  Model model;
  model.run.begin = kBegin;
  model.run.end = kBegin + std::chrono::seconds(2);
  model.run.time_zone = "UTC";
  model.tags = std::move(tags);
  model.fine.edges = {kBegin, kBegin + std::chrono::seconds(1), model.run.end};
  return model;
}

TEST(PageData, AnEmptyRunHasAllThatAPageLooksFor) {
  const Unpacked data = unpacked(Model{});
  for (const char* key :
       {"run", "figures", "whole", "tags", "fine", "coarse", "series", "distributions"})
    EXPECT_TRUE(data.has('"' + std::string(key) + "\":")) << key;
  EXPECT_TRUE(data.floats.empty());
}

TEST(PageData, SeriesKeepEveryBit) {
  Model model = model_of({transaction("a", 3)});
  Series series;
  series.of(Quantity::Calls) = {1, 2};
  series.of(Quantity::Max) = {0.1F, kUnknown};
  model.series.push_back(series);
  const Unpacked data = unpacked(model);
  EXPECT_TRUE(data.has(R"("columns":{"calls":0,"max":2})")) << data.document;
  ASSERT_EQ(data.floats.size(), 4U);
  EXPECT_EQ(data.floats[1], 2);
  EXPECT_EQ(data.floats[2], 0.1F);
  EXPECT_TRUE(data.floats[3] != data.floats[3]);
}

Model captured(std::vector<Tag> tags, std::map<std::string, bool> is_nested) {
  Model model = model_of(std::move(tags));
  model.spans.emplace().is_nested = std::move(is_nested);
  return model;
}

// Percentiles of transactions together with those inside them would belong to neither.
TEST(PageData, PercentilesOfAllAreOfTheOutermostTransactions) {
  const Tag request = transaction("request", 2, {1, 1});
  const Tag query = transaction("query", 3, {0.001, 0.001, 0.001});
  const Tag job = transaction("job", 9, {8, 8, 8, 8, 8, 8, 8, 8, 8});
  EXPECT_TRUE(unpacked(captured({query, request}, {{"request", false}, {"query", true}}))
                  .has(R"("tags":1,"calls":2,"failed":1,"outermost":[1],"p50":1)"));
  EXPECT_TRUE(unpacked(captured({query, request, job},
                                {{"job", false}, {"request", false}, {"query", true}}))
                  .has(R"("outermost":[1,2],"p50":8)"));
  EXPECT_TRUE(
      unpacked(captured({request, query}, {{"query", true}})).has(R"("outermost":[],"p50":null)"))
      << "no request was captured";
  EXPECT_TRUE(unpacked(captured({transaction("request{status=200}", 2, {1, 1}), query,
                                 transaction("request{status=504}", 1, {9})},
                                {{"request{status=200}", false}, {"query", true}}))
                  .has(R"("tags":2,"calls":3,"failed":2,"outermost":[0,2],)"))
      << "another label set was not captured";
  EXPECT_TRUE(unpacked(model_of({request, query})).has(R"("calls":5,"failed":2,"outermost":[],)"));
  EXPECT_TRUE(unpacked(model_of({request, transaction("silent", 0)})).has(R"("outermost":[0],)"));
}

TEST(PageData, PercentilesOfSeveralOutermostTransactionsNeedAHistogramOfEach) {
  const Tag request = transaction("request", 2, {1, 1});
  const Tag other = transaction("other", 1);
  EXPECT_TRUE(unpacked(captured({request, other}, {{"request", false}, {"other", false}}))
                  .has(R"("p999":null,"percentiles_from":"several tags")"));
  EXPECT_TRUE(
      unpacked(model_of({other})).has(R"("p999":null,"percentiles_from":"several windows")"));
  EXPECT_TRUE(unpacked(model_of({})).has(R"("tags":0,"calls":0,"failed":0,"outermost":[],)"));
}

TEST(PageData, FailuresOfAllAreUnknownIfThoseOfOneAre) {
  Tag unknown = transaction("a", 1);
  unknown.failed.reset();
  EXPECT_TRUE(unpacked(model_of({unknown, transaction("b", 1)})).has(R"("calls":2,"failed":null)"));
}

TEST(PageData, ADistributionIsItsBins) {
  Model model = model_of({transaction("a", 3, {1, 1, 2})});
  model.series.emplace_back();
  EXPECT_TRUE(unpacked(model).has(
      R"("distributions":[{"tag":0,"coarseness":0,"bins":[32736,32],"counts":[2,1]}])"));
}

// model_json_test.cpp has the rest of the runs and tags.
TEST(PageData, TheOlderRunIsThereOnlyIfThereIsOne) {
  Model model = model_of({transaction("a", 3)});
  EXPECT_FALSE(unpacked(model).has(R"("base":)"));
  model.base = Totals{model.run, {transaction("older", 1)}};
  EXPECT_TRUE(unpacked(model).has(R"("tags":[{"name":"a",)"));
  EXPECT_TRUE(unpacked(model).has(R"("tags":[{"name":"older",)"));
}

TEST(PageData, TheOlderRunHasTheDistributionsOfTagsThatTheNewerOneHas) {
  Model model = model_of({transaction("a", 3, {1, 1, 2})});
  model.series.emplace_back();
  model.base = Totals{model.run, {transaction("gone", 1, {4}), transaction("a", 2, {1, 1})}};
  EXPECT_TRUE(unpacked(model).has(
      R"("distributions":[{"tag":1,"coarseness":0,"bins":[32736],"counts":[2]}]})"));
}

TEST(PageData, SaysWhichDifferencesExceedNoise) {
  Model model = model_of({transaction("a", 3)});
  model.base = Totals{model.run, {transaction("a", 2)}};
  Comparison comparison;
  comparison.divisors = {2, 4, TagKey(TraceType::Transact, "a")};
  comparison.only_before = {&model.base->tags[0]};
  ComparedTag& compared = comparison.tags.emplace_back();
  compared.before = &model.base->tags[0];
  compared.now = &model.tags[0];
  compared.changes[index_of(Figure::P99)] = {1, 2, Verdict::Real};
  EXPECT_FALSE(unpacked(model).has(R"("comparison":)"));
  EXPECT_TRUE(unpacked(model, &comparison)
                  .has(R"("changes":{"p99":{"before":1,"now":2,"verdict":"real"}})"));
  EXPECT_TRUE(unpacked(model, &comparison).has(R"("divisors":{"tag":"a","before":2,"now":4})"));
  EXPECT_TRUE(unpacked(model, &comparison)
                  .has(R"("only_before":[{"name":"a","type":"transact","values":{"calls":1,)"));
}

TEST(PageData, TheZoneIsTheRuns) {
  Model model = model_of({});
  model.run.time_zone = "CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_TRUE(unpacked(model).has(R"("zone":{"name":"CEST","offset":7200000})"));
  model.run.time_zone = "EST5";
  EXPECT_TRUE(unpacked(model).has(R"("zone":{"name":"EST","offset":-1.8e+07})"));
}

}  // namespace
}  // namespace pcp::trace::command
