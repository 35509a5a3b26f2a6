// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/model_json.hpp"

#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "unit/command/span_samples.hpp"

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
  Tag tag;
  tag.name = "say \"hi\"\n{rank=7}";
  tag.type = TraceType::Transact;
  tag.unit = "s";
  tag.description = "what <is> \"said\"";
  tag.calls = 3;
  tag.max = Extreme{0.25, false};
  tag.slowest = SlowestMoment{totals.run.end, 0.25, true};
  tag.percentile_source = PercentileSource::SeveralHosts;
  tag.hosts = {0};
  totals.tags = {tag};
  totals.imbalances = {{TraceType::Transact, "compute", "rank", 2, 2, 1, {{"7", 3}}}};
  return totals;
}

const std::string kRun =
    R"("run":{"archives":["trace"],"hosts":["saturn"],"command":null,)"
    R"("begin":"2027-01-15T08:00:00.000000001Z","end":"2027-01-15T08:00:02.000000001Z",)"
    R"("elapsed_s":2,"samples":0,"interval_s":null,"gaps":[{"host":"saturn",)"
    R"("begin":"2027-01-15T08:00:00.000000001Z","end":"2027-01-15T08:00:02.000000001Z"}],)"
    R"("incomplete":[{"archive":"trace","why":"no \"room\""}]})";
const std::string kTags =
    R"("tags":[{"name":"say \"hi\"\\x0a{rank=7}","type":"transact","labels":{"rank":"7"},"unit":"s",)"
    R"("description":"what <is> \"said\"","hosts":["saturn"],"count":3,)"
    R"("rate":null,"failed":null,"vanished":null,"nonfinite":null,"sum":null,"mean":null,"busy":null,"min":null,)"
    R"("min_is_exact":false,"max":0.25,"max_is_exact":false,"p50":null,"p90":null,"p95":null,"p99":null,"p999":null,)"
    R"("percentiles_from":"several hosts","last":null,"added":null,)"
    R"("slowest":{"at":"2027-01-15T08:00:02.000000001Z","is_begin":false,"within_s":null,"p99":0.25}}],)"
    R"("imbalances":[{"name":"compute","type":"transact","label":"rank","values":2,)"
    R"("min":1,"mean":2,"max":3,"ratio":1.5,"greatest":[{"value":"7","total":3}]}])";

TEST(ReportAsJson, HasAllThatIsKnown) {
  const Model run = a_run();
  EXPECT_EQ(
      report_json(run, {{Condition::Outcome::Unknown, "why"}}),
      "{\"format\":1," + kRun + "," + kTags +
          R"(,"base":null,"comparison":null,"conditions":[{"outcome":"unknown","text":"why"}],"spans":null})" +
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

TEST(ReportAsJson, HasEachNumberInItsPlace) {
  const Model run = a_known_run();
  const std::string json = report_json(run);
  for (
      const char* const part :
      {R"("command":"./shop --fast")", R"("samples":7,"interval_s":0.5,"gaps":[{"host":"jupiter")",
       R"("hosts":["jupiter"],"count":3,"rate":13,"failed":11,"vanished":25,"nonfinite":26,"sum":12,"mean":14,"busy":15,)"
       R"("min":16,"min_is_exact":true,"max":17,"max_is_exact":false,)"
       R"("p50":18,"p90":19,"p95":20,"p99":21,"p999":22,"percentiles_from":"histogram",)"
       R"("last":23,"added":24,)",
       R"("is_begin":false,"within_s":null,"max":0.25}}])"})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

TEST(ReportAsJson, KnowsNoTimeOfWhatOnlyTheDistributionKnows) {
  Model run = a_known_run();
  run.tags[0].slowest->at.reset();
  const std::string json = report_json(run);
  EXPECT_NE(json.find(R"("slowest":{"at":null,"is_begin":false,"within_s":null,"max":0.25})"),
            std::string::npos)
      << json;
}

TEST(ReportAsJson, SaysWhetherTheSlowestMomentIsABeginOrInATime) {
  Model run = a_known_run();
  run.tags[0].slowest->within_s = 0.5;
  EXPECT_NE(report_json(run).find(R"("is_begin":false,"within_s":0.5,"max":0.25})"),
            std::string::npos);
  run.tags[0].slowest->within_s.reset();
  run.tags[0].slowest->is_begin = true;
  EXPECT_NE(report_json(run).find(R"("is_begin":true,"within_s":null,"max":0.25})"),
            std::string::npos);
}

TEST(ReportAsJson, SaysNothingOfPercentilesWhereThereAreNever) {
  Model run = a_run();
  run.tags.front().type = TraceType::Point;
  const std::string json = report_json(run);
  EXPECT_EQ(json.find("percentiles_from"), std::string::npos) << json;
}

TEST(ReportAsJson, HasWhatBecameOfConditions) {
  using Outcome = Condition::Outcome;
  const std::string json = report_json({}, {{Outcome::Passed, "one"}, {Outcome::Broken, "other"}});
  EXPECT_NE(json.find(R"("conditions":[{"outcome":"passed","text":"one"},)"
                      R"({"outcome":"broken","text":"other"}])"),
            std::string::npos)
      << json;
}

TEST(ReportAsJson, TimesAreOfNoZone) {
  ::setenv("TZ", "CET-1", 1);
  ::tzset();
  const std::string json = report_json(a_run());
  ::unsetenv("TZ");
  ::tzset();
  EXPECT_NE(json.find(R"("begin":"2027-01-15T08:00:00.000000001Z")"), std::string::npos) << json;
}

TEST(ReportAsJson, HasTheSlowestTraces) {
  Model run;
  run.spans = RecordedSpans{3, 1000, 7, {}};
  run.spans->slowest.emplace_back().spans = {span_of("request", 1, 0)};
  const std::string json = report_json(run);
  const std::string trace = trace_json(run.spans->slowest.front());
  EXPECT_TRUE(
      json.ends_with(R"(,"spans":{"traces":3,"spans":1000,"missed":7,"has_gap":false,"slowest":[)" +
                     trace.substr(0, trace.size() - 1) + "]}}\n"))
      << json;
}

TEST(ReportAsJson, HasTheOlderRun) {
  Model run;
  run.base = a_run();
  EXPECT_EQ(report_json(run).find("\"base\":{" + kRun + "," + kTags + "}") == std::string::npos,
            false);
}

TEST(TraceJson, HasAllThatIsKnownInALine) {
  SpanEvent root = span_of("a \"b\"\n", 1, 0, 0, 10);
  root.kind = wire::SpanKind::Server;
  root.aborted = true;
  root.reason = "no";
  root.attributes = "route=/a\\x20b rows=12 zip=\\x30815 sql=a\\x0ab\\x5cx0a";
  root.links = "00000000000000010000000000000002-0000000000000003";
  root.tid = 12;
  root.flags = 3;
  SpanEvent rows = point_of("rows", 1, 4);
  rows.kind = wire::SpanKind::Observe;
  rows.value = 2.5;
  rows.process = "front";
  SpanTrace trace;
  trace.id = {0x1234, 0xabcd};
  trace.spans = {root, rows};
  EXPECT_EQ(
      trace_json(trace),
      R"({"trace":"0000000000001234000000000000abcd","begin":"2027-01-15T08:00:00.000000000Z",)"
      R"("duration_ns":1e+07,"has_root":true,"is_torn":false,"is_late":false,"left_out":0,"spans":[)"
      R"({"tag":"a \"b\"\\x0a","kind":"server","span":"0000000000000001","parent":null,"depth":0,)"
      R"("begin":"2027-01-15T08:00:00.000000000Z","offset_ns":0,"duration_ns":1e+07,)"
      R"("aborted":true,"reason":"no","host":"saturn","service":"shop","process":"shop","pid":11,)"
      R"("tid":12,"flags":3,"attributes":{"route":"/a b","rows":12,"zip":"0815","sql":"a\u000ab\\x0a"},)"
      R"("links":["00000000000000010000000000000002-0000000000000003"]},)"
      R"({"tag":"rows","kind":"observe","span":"0000000000000001","depth":1,)"
      R"("begin":"2027-01-15T08:00:00.004000000Z","offset_ns":4e+06,"value":2.5,"host":"saturn",)"
      R"("service":"shop","process":"front","pid":11,"tid":0,"flags":0}]})"
      "\n");
}

TEST(TraceJson, SaysWhetherTheRootIsThere) {
  SpanTrace trace;
  trace.spans = {span_of("child", 2, 1)};
  EXPECT_NE(trace_json(trace).find(R"("has_root":false)"), std::string::npos);
}

TEST(TraceJson, SaysWhereItIsTorn) {
  SpanTrace trace;
  trace.spans = {span_of("request", 1, 0), span_of("pay", 3, 2), span_of("send", 5, 4)};
  trace.torn = {{3, "order_worker"}, {5, ""}};
  const std::string json = trace_json(trace);
  EXPECT_NE(json.find(R"("is_torn":true)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("parent":"0000000000000002","torn_from":"order_worker")"), json.npos);
  EXPECT_NE(json.find(R"("parent":"0000000000000004","torn_from":null)"), json.npos);
}

std::string text(std::string_view value) {
  JsonWriter json;
  json.text(value);
  return json.document();
}

std::string number(double value) {
  JsonWriter json;
  json.number(value);
  return json.document();
}

TEST(JsonWriter, PutsCommasBetweenWhatIsInside) {
  JsonWriter json;
  json.object([&] {
    json.key("none");
    json.array([] {});
    json.key("three");
    json.array([&] {
      json.number(1);
      json.object([] {});
      json.array([&] { json.truth(true); });
    });
    json.key("last");
    json.null();
  });
  EXPECT_EQ(json.document(), R"({"none":[],"three":[1,{},[true]],"last":null})");
}

TEST(JsonWriter, NumbersAreReadBackAsTheyWere) {
  for (const double value : {0.1, 1e-9, 123456789012345680.0, -1.5, 2.2250738585072014e-308})
    EXPECT_EQ(std::stod(number(value)), value) << number(value);
}

TEST(JsonWriter, WhatIsNotKnownIsNull) {
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "null");
  JsonWriter json;
  json.number(std::optional<double>());
  EXPECT_EQ(json.document(), "null");
}

TEST(JsonWriter, TextIsValidWhateverItsBytesAre) {
  EXPECT_EQ(text(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(text("\x1b[0m\n"), R"("\\x1b[0m\\x0a")");
  EXPECT_EQ(text("\xff"), R"("\\xff")");
  EXPECT_EQ(text("\xc3\xa4"), "\"\xc3\xa4\"");
  EXPECT_EQ(text(std::string(1000, 'a')), '"' + std::string(1000, 'a') + '"');
}

}  // namespace
}  // namespace pcp::trace::command
