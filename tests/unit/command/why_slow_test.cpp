// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/why_slow.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command/show/json_writer.hpp"
#include "command/show/model_json.hpp"
#include "command/show/why_slow.hpp"
#include "unit/command/span_samples.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

constexpr auto kAll = RequestGroup::All;
constexpr auto kSlowest = RequestGroup::Slowest;
constexpr auto kFailed = RequestGroup::Failed;

std::vector<Requests> requests_in(const std::vector<SpanTrace>& traces,
                                  const LabelChoice& choice = {},
                                  std::optional<Ending> times_of = {}) {
  WhySlow why(choice, times_of);
  for (const SpanTrace& trace : traces) why.choose(trace);
  if (!why.decide()) return {};
  for (const SpanTrace& trace : traces) why.count(trace);
  return why.take();
}

// A request, half of whose time is its search's.
SpanTrace request(std::uint64_t id, std::uint64_t ms, const std::string& notes = "",
                  const std::string& tag = "request") {
  SpanTrace trace = trace_of(
      {span_of(tag, 2 * id, 0, 0, ms, id),
       span_of("search{shard=" + std::to_string(id % 2) + "}", 2 * id + 1, 2 * id, 1, ms / 2, id)},
      id);
  trace.spans[1].attributes = notes;
  return trace;
}

// Two slow ones, and one of them failed; 198 fast ones. Both and three fast ones have item 7.
std::vector<SpanTrace> some_requests() {
  std::vector<SpanTrace> traces{request(1, 100, "item=7 n=1 in=eu"),
                                request(2, 80, "item=7 n=2 in=eu")};
  traces[0].spans[0].attributes = "item=7";  // says it twice
  traces[1].spans[0].aborted = true;
  traces[1].spans[0].reason = "timed out";
  for (std::uint64_t id = 3; id <= 200; ++id)
    traces.push_back(request(id, 10, id < 6 ? "item=7 in=eu" : "item=8 in=eu"));
  return traces;
}

std::uint64_t self_ms(const Requests& requests, const std::string& name, RequestGroup group) {
  for (const RequestStep& step : requests.steps)
    if (step.name == name) return step.self_ns.of(group) / kMs;
  return 0;
}

TEST(TheSlowest, AreOneOfAHundredWithTheTimeOfTheirSteps) {
  const std::vector<Requests> all = requests_in(some_requests());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].tag, "request");
  EXPECT_EQ(all[0].count, (OfGroups{{200, 2, 1}}));
  EXPECT_EQ(all[0].time_ns, (OfGroups{{2160 * kMs, 180 * kMs, 80 * kMs}}));
  EXPECT_EQ(all[0].slowest_from_ns, 80 * kMs);
  EXPECT_EQ(self_ms(all[0], "search", kAll), 1080U);
  EXPECT_EQ(self_ms(all[0], "search", kSlowest), 90U);
  EXPECT_EQ(self_ms(all[0], "", kFailed), 40U);
}

TEST(TheSlowest, HaveTraitsThatAreRarerAmongTheOthers) {
  const Requests all = requests_in(some_requests()).at(0);
  const std::vector<const RequestTrait*> traits = all.traits_of(kSlowest);
  ASSERT_EQ(traits.size(), 1U);  // neither what one of them has, nor what all have
  EXPECT_EQ(traits[0]->key + "=" + traits[0]->value, "item=7");
  EXPECT_EQ(traits[0]->requests, (OfGroups{{5, 2, 1}}));
}

TEST(TheSlowest, AreAtMostSoMany) {
  WhySlow why({}, {}, 3);
  const auto each = [](auto take) {
    for (std::uint64_t ms = 1; ms <= 500; ++ms) {
      SpanTrace trace = request(ms, 1 + ms * 7 % 499, "item=7");
      trace.spans[0].aborted = ms % 2 == 0;
      take(trace);
    }
  };
  each([&](const SpanTrace& trace) { why.choose(trace); });
  ASSERT_TRUE(why.decide());
  each([&](const SpanTrace& trace) { why.count(trace); });
  const Requests all = why.take().at(0);
  EXPECT_EQ(all.count, (OfGroups{{500, 3, 250}}));
  EXPECT_EQ(all.slowest_from_ns, 497 * kMs);
}

TEST(TheFailed, HaveTheirReasonInCommon) {
  std::vector<SpanTrace> traces = some_requests();
  traces[50].spans[0].aborted = true;
  traces[50].spans[0].reason = "timed out";
  const Requests all = requests_in(traces).at(0);
  ASSERT_EQ(all.traits_of(kFailed).size(), 1U);
  EXPECT_EQ(all.traits_of(kFailed)[0]->value, "timed out");
  EXPECT_EQ(all.traits_of(kFailed)[0]->requests.of(kFailed), 2U);
}

TEST(TheFailed, MayBeQuickerInEachStep) {
  std::vector<SpanTrace> traces = some_requests();
  traces[1].spans[0].aborted = false;
  traces[50].spans[0].aborted = true;
  const Requests all = requests_in(traces).at(0);
  ASSERT_EQ(all.steps_of(kFailed).size(), 1U);  // just the longest
  EXPECT_EQ(all.steps_of(kFailed)[0], &all.steps.front());
}

TEST(ASelfTime, IsWithoutWhatIsInsideHoweverItOverlaps) {
  SpanTrace trace = trace_of({span_of("request", 1, 0, 10, 100), span_of("a", 2, 1, 20, 30),
                              span_of("b", 3, 1, 40, 30), span_of("c", 4, 3, 45, 5),
                              span_of("late", 5, 1, 100, 50), span_of("skewed", 6, 1, 0, 15),
                              span_of("outlives", 7, 4, 75, 10)});
  const Requests all = requests_in({trace, request(9, 1)}).at(0);
  EXPECT_EQ(self_ms(all, "", kSlowest), 100U - 50 - 10 - 5 - 10);
  EXPECT_EQ(self_ms(all, "a", kSlowest), 30U);
  EXPECT_EQ(self_ms(all, "b", kSlowest), 25U);
  EXPECT_EQ(self_ms(all, "late", kSlowest), 10U);
  EXPECT_EQ(self_ms(all, "skewed", kSlowest), 5U);
}

TEST(Requests, AreOfOneNameUnlessByKeepsThemApart) {
  const std::vector<SpanTrace> traces{request(1, 5, "", "request{status=200}"),
                                      request(2, 9, "", "request{status=504}")};
  EXPECT_EQ(requests_in(traces).at(0).count.of(kAll), 2U);
  LabelChoice choice;
  choice.by = {"status"};
  EXPECT_EQ(requests_in(traces, choice).size(), 2U);
  choice.where = *parse_where("status=5*");
  ASSERT_EQ(requests_in(traces, choice).size(), 1U);
  EXPECT_EQ(requests_in(traces, choice)[0].tag, "request{status=504}");
}

TEST(Requests, AreWholeAndBeginWhereNothingWasCaptured) {
  std::vector<SpanTrace> traces = some_requests();
  traces.push_back(request(300, 500));
  traces.back().is_late = true;
  traces.push_back(request(301, 500));
  traces.back().spans_left_out = 1;
  // Another part of the trace was captured.
  traces.push_back(trace_of({span_of("other", 899, 0), span_of("request", 900, 77, 0, 500)}));
  EXPECT_EQ(requests_in(traces).at(0).count.of(kAll), 200U);
  traces.back().spans[1].kind = wire::SpanKind::Server;
  EXPECT_EQ(requests_in(traces).at(0).count.of(kAll), 201U);
  traces.push_back(trace_of({span_of("request", 901, 77, 0, 500)}));  // of another program's trace
  EXPECT_EQ(requests_in(traces).at(0).count.of(kAll), 202U);
  EXPECT_EQ(requests_in(traces, {}, Ending::Failed).at(0).count.of(kAll), 1U);
}

TEST(Requests, ThatLackPartsAreCountedAsSuch) {
  WhySlow why({}, {});
  SpanTrace cut = request(1, 5);
  cut.spans_left_out = 1;
  why.choose(cut);
  for (std::uint64_t id = 1; id <= 40; ++id)
    why.choose(request(id, 5, "", "request" + std::to_string(id)));
  EXPECT_EQ(why.left_out(), 1U + 8);
  SpanTrace without_notes = request(9, 5);
  without_notes.spans[1].left_out = 2;
  const std::vector<Requests> all = requests_in({request(1, 5), without_notes});
  EXPECT_EQ(all.at(0).lack_notes, 1U);
}

TEST(Requests, HaveTheGreatestStepsApart) {
  SpanTrace trace = request(1, 5000);
  for (std::uint64_t i = 0; i < 600; ++i)
    trace.spans.push_back(
        span_of("step" + std::to_string(i), 10 + i, 2, 2501 + 3 * i, 1 + i / 599));
  const Requests all = requests_in({trace}).at(0);
  EXPECT_EQ(all.steps.size(), 501U);
  EXPECT_EQ(self_ms(all, "step599", kAll), 2U);
  EXPECT_EQ(self_ms(all, "(overflow)", kAll), 102U);
}

TEST(Requests, MayGrowBetweenTheTwoTimes) {
  WhySlow why({}, {});
  for (const SpanTrace& trace : some_requests()) why.choose(trace);
  ASSERT_TRUE(why.decide());
  for (const SpanTrace& trace : some_requests()) why.count(trace);
  why.count(request(900, 1, "", "new"));
  EXPECT_EQ(why.take().size(), 1U);
}

TEST(WhySlow, IsShownToPeopleAndPrograms) {
  RecordedSpans spans;
  spans.requests = requests_in(some_requests());
  EXPECT_EQ(why_slow(spans, Shown(Terminal{false, false, 80}), 1),
            "\nrequest: the slowest 2 of 200 captured, from 80.0 ms\n"
            "  time  not in any step 50% (others 50%), search 50% (others 50%)\n"
            "  with  item=7 100% (others 2%)\n");
  EXPECT_TRUE(
      has(why_slow(spans, Shown(Terminal{false, false, 40}), 1),
          "\n  time  not in any step 50% (others 50%),\n        search 50% (others 50%)\n"));
  EXPECT_TRUE(
      has(why_slow_markdown(spans, Shown(Terminal{})), "  - with: `item=7 100% (others 2%)`\n"));
  JsonWriter json;
  write_spans(json, spans);
  EXPECT_FALSE(has(json.document(), "slower_s"));
  EXPECT_TRUE(has(json.document(),
                  R"({"key":"item","value":"7","requests":{"all":5,"slowest":2,"failed":1}})"));
}

TEST(WhySlow, SaysThatTheOthersAreSlowToo) {
  RecordedSpans spans;
  spans.slower_ns = 200'000'000;
  const Shown shown(Terminal{false, false, 80});
  EXPECT_EQ(why_slow(spans, shown, 1), "");
  spans.requests = requests_in(some_requests());
  const std::string only =
      "only slow requests were recorded: in each, a transaction took 200 ms or more\n";
  EXPECT_TRUE(has(why_slow(spans, shown, 1), "\n" + only));
  RecordedSpans failed = spans;
  failed.reasons = wire::kIfFailed;
  EXPECT_TRUE(has(why_slow(failed, shown, 1),
                  "\nonly chosen requests were recorded: in each, a "
                  "transaction took 200 ms or more and failed\n"));
  failed.reasons = wire::kIfDied;
  EXPECT_TRUE(has(why_slow(failed, shown, 1), " or more and was open when its process died\n"));
  EXPECT_TRUE(has(why_slow_markdown(spans, shown), "\n- " + only));
  JsonWriter json;
  write_spans(json, spans);
  EXPECT_TRUE(has(json.document(), R"("slower_s":0.2,)"));
  EXPECT_FALSE(has(json.document(), "died"));
  JsonWriter died;
  failed.died = {2, {{span_of("a", 5, 0, 0, 9), span_of("b", 6, 5, 0, 2)}}};
  write_spans(died, failed);
  EXPECT_TRUE(has(died.document(),
                  R"("only_died":true,"died":{"requests":2,"longest":[{"tag":"a","open_s":0.009,)"
                  R"("span":"0000000000000005","service":"shop","pid":11,"host":"saturn",)"
                  R"("trace":"00000000000000000000000000000001",)"
                  R"("last":{"tag":"b","open_s":0.002,"span":"0000000000000006"}}]})"));
}

}  // namespace
}  // namespace pcp::trace::command
