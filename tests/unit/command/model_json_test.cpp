// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/model_json.hpp"

#include <cstdlib>
#include <ctime>
#include <string>

#include <gtest/gtest.h>

#include "command/show/trace_json.hpp"
#include "unit/command/made_tags.hpp"
#include "unit/command/span_samples.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

Model a_run() {
  Model totals;
  totals.run.archives = {"trace"};
  totals.run.hosts = {"saturn"};
  totals.run.begin = WallTime(std::chrono::nanoseconds(1'800'000'000'000'000'001));
  totals.run.end = totals.run.begin + std::chrono::seconds(2);
  totals.run.gaps = {{totals.run.begin, totals.run.end, 0}};
  totals.run.incomplete = {{"trace", "no \"room\""}};
  Tag tag = made_tag(TraceType::Transact, "say \"hi\"\n{rank=7}", 3);
  tag.unit = "s";
  tag.description = "what <is> \"said\"";
  tag.max = Extreme{0.25, false};
  tag.slowest = SlowestMoment{totals.run.end, 0.25, true};
  tag.percentile_source = PercentileSource::SeveralHosts;
  tag.hosts = {0};
  totals.tags = {tag};
  totals.imbalances = {{TraceType::Transact, "compute", "rank", 2, 2, 1, {{"7", 3}}, "3"}};
  return totals;
}

const std::string kRun =
    R"("run":{"archives":["trace"],"hosts":["saturn"],"command":null,)"
    R"("begin":"2027-01-15T08:00:00.000000001Z","end":"2027-01-15T08:00:02.000000001Z",)"
    R"("elapsed_s":2,"samples":0,"interval_s":null,"gaps":[{"host":"saturn",)"
    R"("begin":"2027-01-15T08:00:00.000000001Z","end":"2027-01-15T08:00:02.000000001Z"}],)"
    R"("incomplete":[{"archive":"trace","why":"no \"room\""}],"times_of":"all"})";
const std::string kTags =
    R"("tags":[{"name":"say \"hi\"\\x0a{rank=7}","type":"transact","labels":{"rank":"7"},"unit":"s",)"
    R"("description":"what <is> \"said\"","hosts":["saturn"],"calls":3,)"
    R"("rate":null,"completed":3,"failed":null,"vanished":null,"nonfinite":null,"lacks_times":false,"sum":null,"mean":null,"busy":null,"min":null,)"
    R"("min_is_exact":false,"max":0.25,"max_is_exact":false,"p50":null,"p90":null,"p95":null,"p99":null,"p999":null,)"
    R"("percentiles_from":"several hosts","last":null,"added":null,)"
    R"("slowest":{"at":"2027-01-15T08:00:02.000000001Z","is_begin":false,"within_s":null,"p99":0.25}}],)"
    R"("imbalances":[{"name":"compute","type":"transact","label":"rank","values":2,)"
    R"("min":1,"least":"3","mean":2,"max":3,"ratio":1.5,"uneven":true,"greatest":[{"value":"7","total":3}]}])";

TEST(ReportAsJson, HasAllThatIsKnown) {
  using Outcome = Condition::Outcome;
  EXPECT_EQ(
      report_json(a_run(),
                  {{Outcome::Unknown, "why"}, {Outcome::Passed, "one"}, {Outcome::True, "other"}}),
      "{\"format\":2," + kRun + "," + kTags +
          R"(,"base":null,"comparison":null,"conditions":[{"outcome":"unknown","text":"why"},)"
          R"({"outcome":"passed","text":"one"},{"outcome":"broken","text":"other"}],)"
          R"("spans":null})" +
          "\n");
}

// All its numbers differ.
Model a_known_run() {
  Model totals = a_run();
  totals.run.hosts = {"saturn", "jupiter"};
  totals.run.command = "./shop --fast";
  totals.run.samples = 7;
  totals.run.interval = std::chrono::milliseconds(500);
  totals.run.gaps.front().host = 1;
  Tag& tag = totals.tags.front();
  tag.name = "a";
  tag.hosts = {1};
  tag.calls = 33;
  tag.failed = 11;
  tag.vanished = 25;
  tag.nonfinite = 26;
  tag.sum = 12;
  tag.rate = 13;
  tag.mean = 14;
  tag.busy = 15;
  tag.min = Extreme{16, true};
  tag.max = Extreme{17, false};
  tag.percentiles = {18, 19, 20, 21, 22};
  tag.percentile_source = PercentileSource::Histogram;
  tag.last = 23;
  tag.counted = 24;
  tag.slowest->is_p99 = false;
  return totals;
}

TEST(ReportAsJson, KnowsNoAdditionsToACounterThatWasOnlySet) {
  Model totals = a_run();
  totals.tags.front().counted = 0;
  EXPECT_TRUE(has(report_json(totals), R"("added":null,)"));
  totals.tags.front().calls = 0;
  EXPECT_TRUE(has(report_json(totals), R"("added":0,)"));
}

TEST(ReportAsJson, HasEachNumberInItsPlace) {
  const Model run = a_known_run();
  const std::string json = report_json(run);
  for (
      const char* const part :
      {R"("command":"./shop --fast")", R"("samples":7,"interval_s":0.5,"gaps":[{"host":"jupiter")",
       R"("hosts":["jupiter"],"calls":33,"rate":13,"completed":22,"failed":11,"vanished":25,"nonfinite":26,"lacks_times":false,"sum":12,"mean":14,"busy":15,)"
       R"("min":16,"min_is_exact":true,"max":17,"max_is_exact":false,)"
       R"("p50":18,"p90":19,"p95":20,"p99":21,"p999":22,"percentiles_from":"histogram",)"
       R"("last":23,"added":24,)",
       R"("is_begin":false,"within_s":null,"max":0.25}}])"})
    EXPECT_TRUE(has(json, part));
}

// The distribution knows no time.
TEST(ReportAsJson, SaysWhetherTheSlowestMomentIsABeginOrInATimeOrAtNoKnownOne) {
  Model run = a_known_run();
  SlowestMoment& slowest = *run.tags[0].slowest;
  slowest.within_s = 0.5;
  EXPECT_TRUE(has(report_json(run), R"("is_begin":false,"within_s":0.5,"max":0.25})"));
  slowest.within_s.reset();
  slowest.is_begin = true;
  EXPECT_TRUE(has(report_json(run), R"("is_begin":true,"within_s":null,"max":0.25})"));
  slowest.is_begin = false;
  slowest.at.reset();
  EXPECT_TRUE(has(report_json(run),
                  R"("slowest":{"at":null,"is_begin":false,"within_s":null,"max":0.25})"));
}

TEST(ReportAsJson, SaysNothingOfPercentilesWhereThereAreNever) {
  Model run = a_run();
  run.tags.front().type = TraceType::Point;
  EXPECT_FALSE(has(report_json(run), "percentiles_from"));
}

TEST(ReportAsJson, TimesAreOfNoZone) {
  ::setenv("TZ", "CET-1", 1);
  ::tzset();
  const std::string json = report_json(a_run());
  ::unsetenv("TZ");
  ::tzset();
  EXPECT_TRUE(has(json, R"("begin":"2027-01-15T08:00:00.000000001Z")"));
}

TEST(ReportAsJson, HasTheSlowestTraces) {
  Model run;
  run.spans = RecordedSpans{3, 1000, 7, {}};
  run.spans->slowest = {trace_of({span_of("request", 1, 0)})};
  const std::string json = report_json(run);
  const std::string trace = trace_json(run.spans->slowest.front());
  EXPECT_TRUE(json.ends_with(
      R"(,"spans":{"traces":3,"spans":1000,"missed":7,"has_gap":false,"not_in_requests":0,"requests":[],"slowest":[)" +
      trace.substr(0, trace.size() - 1) + "]}}\n"))
      << json;
}

TEST(ReportAsJson, HasTheCallsThatMayHaveLostTheirLabels) {
  Model run = a_run();
  EXPECT_FALSE(has(report_json(run), "folded"));
  run.run.folded = {a_known_run().tags.front()};  // with 11 failed calls
  EXPECT_FALSE(has(report_json(run), "folded"));  // all in one group
  run.run.folded[0].is_folded = true;
  EXPECT_TRUE(has(report_json(run),
                  R"(],"times_of":"all","folded":[{"name":"a","type":"transact","calls":33}]})"));
  run.run.without_room = 2;
  EXPECT_TRUE(has(report_json(run), R"(],"times_of":"all","no_room":"the agent had no room for )"));
}

TEST(ReportAsJson, HasTheOlderRun) {
  Model run;
  run.base = a_run();
  EXPECT_TRUE(has(report_json(run), "\"base\":{" + kRun + "," + kTags + "}"));
}

}  // namespace
}  // namespace pcp::trace::command
