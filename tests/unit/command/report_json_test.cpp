// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/report_json.hpp"

#include <string>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

Totals a_run() {
  Totals totals;
  totals.run.archives = {"trace"};
  totals.run.hosts = {"saturn"};
  totals.run.begin = Moment(std::chrono::nanoseconds(1'800'000'000'000'000'001));
  totals.run.end = totals.run.begin + std::chrono::seconds(2);
  totals.run.gaps = {{totals.run.begin, totals.run.end, 0}};
  Tag tag;
  tag.name = "say \"hi\"\n";
  tag.type = TraceType::Transact;
  tag.unit = "s";
  tag.calls = 3;
  tag.max = Extreme{0.25, false};
  tag.slowest = SlowestMoment{totals.run.end, 0.25, true};
  tag.percentile_source = PercentileSource::SeveralHosts;
  tag.hosts = {0};
  totals.tags = {tag};
  return totals;
}

const std::string kRun =
    R"("run":{"archives":["trace"],"hosts":["saturn"],"command":null,)"
    R"("begin":"2027-01-15T08:00:00.000000001Z","end":"2027-01-15T08:00:02.000000001Z",)"
    R"("elapsed_s":2,"samples":0,"interval_s":null,"gaps":[{"host":"saturn",)"
    R"("begin":"2027-01-15T08:00:00.000000001Z","end":"2027-01-15T08:00:02.000000001Z"}]})";
const std::string kTags =
    R"("tags":[{"name":"say \"hi\"\\x0a","type":"transact","unit":"s","hosts":["saturn"],"count":3,)"
    R"("rate":null,"failed":null,"sum":null,"mean":null,"concurrency":null,"min":null,)"
    R"("min_is_exact":false,"max":0.25,"max_is_exact":false,"p50":null,"p90":null,"p95":null,"p99":null,"p999":null,)"
    R"("percentiles_from":"several hosts","last":null,"added":null,)"
    R"("slowest":{"at":"2027-01-15T08:00:02.000000001Z","p99":0.25}}])";

TEST(ReportAsJson, HasAllThatIsKnown) {
  const Totals run = a_run();
  EXPECT_EQ(report_json(run.run, run.tags, nullptr, {{Condition::Outcome::Unknown, "why"}}),
            "{\"format\":1," + kRun + "," + kTags +
                R"(,"base":null,"conditions":[{"outcome":"unknown","text":"why"}]})" + "\n");
}

TEST(ReportAsJson, HasTheOlderRun) {
  const Totals run = a_run();
  EXPECT_EQ(report_json({}, {}, &run, {}).find("\"base\":{" + kRun + "," + kTags + "}") ==
                std::string::npos,
            false);
}

}  // namespace
}  // namespace pcp::trace::command
