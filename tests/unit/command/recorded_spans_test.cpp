// SPDX-License-Identifier: LGPL-2.1-or-later
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "command/run/archive_reader.hpp"
#include "command/run/run_totals.hpp"
#include "support/error_of.hpp"
#include "unit/command/archive_of_tags.hpp"
#include "unit/command/made_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::uint64_t ns_at(double second) {
  return static_cast<std::uint64_t>(moment(second).time_since_epoch().count());
}

class RecordedSpansOf : public OfArchives {
 protected:
  // Makes an archive whose only sample is that of its begin.
  ArchiveOfTags& begun(const std::string& name = "run", const std::string& host = "saturn") {
    return OfArchives::begun(name, {.host = host, .has_spans = true});
  }

  RecordedSpans spans(const std::vector<std::string>& names = {"run"}, const Window& window = {}) {
    return read_or_fail(read_spans(request(names, window))).value();
  }
};

TEST_F(RecordedSpansOf, AnArchiveAreItsTracesTheSlowestFirst) {
  begun()
      .spans(1, {{"fast", 1, 0, ns_at(0.5), kMs, 1}, {"part", 3, 2, ns_at(0.7), kMs, 2, "rows=12"}})
      .spans(2, {{"slow", 2, 0, ns_at(0.6), 900 * kMs, 2}}, 17);
  const RecordedSpans found = spans();
  EXPECT_EQ(std::tie(found.traces, found.spans, found.missed), std::tuple(2U, 3U, 17U));
  ASSERT_EQ(found.slowest.size(), 2U);
  const std::vector<Node> nodes = nodes_of(found.slowest[0]);
  ASSERT_EQ(nodes.size(), 2U);
  const SpanEvent& slow = *nodes[0].span;
  EXPECT_EQ(std::tie(slow.tag, slow.duration_ns, slow.host),
            std::tuple("slow", 900 * kMs, "saturn"));
  EXPECT_EQ(nodes[1].span->attributes, "rows=12");
  EXPECT_EQ(nodes[1].depth, 1U);
  EXPECT_EQ(found.is_nested,
            (std::map<std::string, bool>{{"fast", false}, {"part", true}, {"slow", false}}));
}

TEST_F(RecordedSpansOf, SlowRequestsAloneAreKnownIfAllRecordingsHaveSuchAFilter) {
  const auto made = [this](const char* name, const char* filter) {
    OfArchives::begun(name, {.host = name, .has_spans = true, .filter = filter});
  };
  made("one", "tag=a slower=200ms");
  made("two", "slower=50ms");
  made("all", "tag=a");
  made("unknown", "");
  EXPECT_EQ(spans({"one"}).slower_ns, 200 * kMs);
  EXPECT_EQ(spans({"one", "two"}).slower_ns, 50 * kMs);
  for (const char* const other : {"all", "unknown"}) EXPECT_EQ(spans({"one", other}).slower_ns, 0U);
}

TEST_F(RecordedSpansOf, FailedRequestsAloneAreKnownIfEachHasFailed) {
  for (const bool has_failed : {true, false}) {
    OfArchives::begun("run", {.host = "saturn", .has_spans = true, .filter = "tag=* failed wanted"})
        .spans(1,
               {{.tag = "a", .id = 1, .begin_ns = ns_at(0.5), .trace = 1, .aborted = true},
                {.tag = "b", .id = 2, .begin_ns = ns_at(0.6), .trace = 1},
                {.tag = "a", .id = 3, .begin_ns = ns_at(0.7), .trace = 2, .aborted = has_failed}});
    EXPECT_EQ(spans().reasons, has_failed ? wire::kIfFailed : 0);
  }
}

TEST_F(RecordedSpansOf, DeadProgramsBeginWithTheRequestsThatWereOpenForLongest) {
  std::vector<MadeSpan> all{{.tag = "a", .id = 99, .begin_ns = ns_at(0.5), .duration_ns = 1}};
  for (std::uint64_t id = 1; id <= 7; ++id)
    for (const std::uint64_t parent : {std::uint64_t{0}, id})
      all.push_back({.tag = "a",
                     .id = parent + id,
                     .parent = parent,
                     .begin_ns = ns_at(0.5) + parent,
                     .duration_ns = id * kMs - parent,
                     .trace = id,
                     .flags = wire::kWasOpen});
  begun().spans(1, all);
  const RecordedSpans found = spans();
  EXPECT_EQ(found.died.requests, 7U);
  std::vector<std::uint64_t> ids;
  for (const OpenRequest& request : found.died.longest) {
    ids.push_back(request.outermost.span);
    EXPECT_EQ(request.last.span, 2 * ids.back());
  }
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{7, 6, 5, 4, 3}));
  EXPECT_EQ(found.longest.at("a").duration_ns, 1U);  // of those that ended
  const Window before{moment(0), moment(0.5) + std::chrono::milliseconds(3)};
  EXPECT_EQ(spans({"run"}, before).died.requests, 3U);
}

TEST_F(RecordedSpansOf, ChosenTagsAreTheTracesThatHaveOne) {
  begun().spans(1, {{"request{status=200}", 1, 0, ns_at(0.5), kMs, 1},
                    {"db{table=a}", 3, 2, ns_at(0.7), kMs, 2},
                    {"request{status=504}", 2, 0, ns_at(0.6), 9 * kMs, 2}});
  for (const char* const where : {"status=504", "table=a"}) {
    ReadRequest chosen = request();
    chosen.choice.where = *parse_where(where);
    const RecordedSpans found = read_or_fail(read_spans(chosen)).value();
    ASSERT_EQ(found.slowest.size(), 1U) << where;
    EXPECT_EQ(found.slowest[0].id.low, 2U);
    EXPECT_EQ(found.requests.size(), where[0] == 's' ? 1U : 0U);
  }
}

TEST_F(RecordedSpansOf, AnArchiveSayWhereTheyAreTorn) {
  begun()
      .spans(1, {{"torn", 1, 0, ns_at(0.1), 900 * kMs, 1}, {"part", 3, 2, ns_at(0.2), kMs, 1}})
      .spans(2, {{"whole", 4, 0, ns_at(1), kMs, 2}, {"part", 5, 4, ns_at(1), kMs, 2}});
  const RecordedSpans found = spans();
  ASSERT_EQ(found.slowest.size(), 2U);
  EXPECT_EQ(found.slowest[0].torn, (std::map<std::uint64_t, std::string>{{3, "shop"}}));
  EXPECT_TRUE(found.slowest[1].torn.empty());
}

TEST_F(RecordedSpansOf, SeveralHostsArePutTogether) {
  begun().spans(5, {{"request", 1, 0, ns_at(1), 800 * kMs, 1}});
  begun("other", "jupiter")
      .spans(3, {{"reserve", 2, 1, ns_at(1.2), 300 * kMs, 1}})
      .spans(400, {{"other", 9, 0, ns_at(399), 1, 9}});
  std::vector<SpanTrace> traces;
  ASSERT_TRUE(read_traces(request({"other", "run"}), [&](SpanTrace&& trace) {
    traces.push_back(std::move(trace));
    return true;
  }));
  ASSERT_EQ(traces.size(), 2U);
  ASSERT_EQ(traces.front().spans.size(), 2U);
  EXPECT_EQ(nodes_of(traces.front())[1].span->host, "jupiter");
}

TEST_F(RecordedSpansOf, APartOfTheTimeAreTheTracesThatBeganInIt) {
  begun()
      .spans(2, {{"early", 1, 0, ns_at(1), 5000 * kMs, 1}}, 3)
      .spans(9, {{"child", 3, 2, ns_at(8.5), kMs, 2}, {"late", 2, 0, ns_at(8), 1000 * kMs, 2}}, 4);
  const RecordedSpans found = spans({"run"}, {moment(5), moment(10)});
  EXPECT_EQ(std::tie(found.traces, found.spans, found.missed), std::tuple(1U, 2U, 4U));
  EXPECT_EQ(found.slowest.size(), 1U);
}

TEST_F(RecordedSpansOf, TheLongestOfATagIsItsMaximumAtLeast) {
  begun().spans(2, {{"a", 1, 0, ns_at(0.5), 900 * kMs, 1},
                    {"a", 2, 0, ns_at(0.5), 30 * kMs, 2},
                    {"other", 3, 0, ns_at(0.5), 950 * kMs, 3}});
  Tag tag = made_tag(TraceType::Transact, "a", 9);
  tag.max = Extreme{0.2, false};
  tag.slowest = SlowestMoment{moment(1), 0.2, false};
  Tag exact = tag;
  exact.max = Extreme{0.8999, true};
  Tag slower = tag;
  slower.max->value = slower.slowest->value = 0.91;
  Tag same = tag;
  same.max->is_exact = true;
  same.max->value = same.slowest->value = static_cast<float>(0.9);
  Totals run{{}, {tag, exact, slower, same}};
  run.run.begin = moment(0);
  run.run.end = moment(5);
  raise_to_spans(run, spans(), {});
  EXPECT_EQ(run.tags[0].max, (Extreme{0.9, false}));
  EXPECT_EQ(run.tags[0].slowest->value, 0.9);
  EXPECT_EQ(run.tags[1].max->value, 0.8999);
  EXPECT_EQ(run.tags[1].slowest->value, 0.8999);
  EXPECT_EQ(run.tags[3].max->value, static_cast<float>(0.9));
  for (std::size_t i = 0; i < run.tags.size(); ++i) {
    EXPECT_EQ(run.tags[i].slowest->is_begin, i != 2) << i;
    EXPECT_EQ(run.tags[i].slowest->at, moment(i != 2 ? 0.5 : 1)) << i;
  }
  run.tags = {tag};
  run.run.end = moment(1);  // the span has ended later
  raise_to_spans(run, spans(), {});
  EXPECT_EQ(run.tags[0].max->value, 0.2);
}

TEST_F(RecordedSpansOf, AnAbortedOneIsAFailedCallOfItsTag) {
  MadeSpan aborted{"a", 1, 0, ns_at(0.5), 900 * kMs, 1};
  aborted.aborted = true;
  begun().spans(2, {aborted, {"a", 2, 0, ns_at(0.5), 30 * kMs, 2}});
  ReadRequest wanted = request();
  for (const auto& [times_of, longest] : {std::pair(std::optional<Ending>(), 900 * kMs),
                                          std::pair(std::optional(Ending::Failed), 900 * kMs),
                                          std::pair(std::optional(Ending::Completed), 30 * kMs)}) {
    wanted.times_of = times_of;
    const RecordedSpans found = read_or_fail(read_spans(wanted)).value();
    EXPECT_EQ(found.longest.at("a").duration_ns, longest);
    EXPECT_EQ(found.slowest.size(), times_of ? 1U : 2U);
    EXPECT_EQ(found.slowest.front().spans.front().duration_ns, longest);
  }
}

TEST_F(RecordedSpansOf, OneAgentHaveNoGapUnlessTheRecorderWasLate) {
  const MadeSpan span{"a", 1, 0, ns_at(0.5)};
  for (const int lapses : {1, 2}) {
    begun().uptime(1, 10, 1).spans(2, {span}).uptime(3, 12, lapses);
    EXPECT_EQ(spans().has_gap, lapses == 2);
  }
}

TEST_F(RecordedSpansOf, TwoAgentsHaveAGapBetweenThem) {
  begun().uptime(1, 10).spans(2, {{"a", 1, 0, ns_at(0.5)}}).uptime(3, 2);
  EXPECT_TRUE(spans().has_gap);
  EXPECT_EQ(spans().traces, 1U);
  EXPECT_FALSE(spans({"run"}, {moment(0), moment(2)}).has_gap);
}

TEST_F(RecordedSpansOf, ATimeOfWhichNothingIsKnownAreAGap) {
  begun().spans(1, {{"a", 1, 0, ns_at(0.5)}}).mark(2).spans(3, {{"b", 2, 0, ns_at(2.5), 1, 2}});
  EXPECT_TRUE(spans().has_gap);
  EXPECT_EQ(spans().traces, 2U);
}

TEST_F(RecordedSpansOf, AnArchiveWithoutThemAreNone) {
  OfArchives::begun();
  const auto read = read_spans(request());
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
  EXPECT_FALSE(model().spans);
}

// Records of spans between two samples change nothing else.
TEST_F(RecordedSpansOf, ARunAreNoSamplesOfIt) {
  begun()
      .spans(1, {{"a", 1, 0, ns_at(0.5)}})
      .spans(1, {{"b", 2, 0, ns_at(0.5), 1, 2}})
      .spans(5, {}, 3);
  const Model read = model();
  EXPECT_EQ(read.run.samples, 1U);
  EXPECT_EQ(read.run.end, moment(0));
  ASSERT_TRUE(read.spans);
  EXPECT_EQ(read.spans->traces, 2U);
}

TEST_F(RecordedSpansOf, ACutArchiveAreThoseThatAreWhole) {
  begun()
      .spans(1, {{"a", 1, 0, ns_at(0.5), kMs, 1}})
      .spans(2, {{"b", 2, 0, ns_at(0.5), kMs, 2}})
      .end("")
      .finish();
  const std::string volume = path() + ".0";
  std::filesystem::resize_file(volume, std::filesystem::file_size(volume) - 9);
  EXPECT_EQ(spans().traces, 1U);
}

TEST_F(RecordedSpansOf, AnArchiveThatIsNotThereCannotBeRead) {
  EXPECT_TRUE(
      has(error_of(read_spans(request({"no such"}))), "no such: not a readable archive of PCP: "));
}

TEST_F(RecordedSpansOf, ALargeArchiveNeedNotBeReadToItsEnd) {
  ArchiveOfTags& archive = begun();
  for (unsigned i = 0; i < 10; ++i)
    archive.spans(i * 100.0, {{"a", i + 1, 0, ns_at(i * 100.0), kMs, i + 1}});
  int taken = 0;
  const auto read = read_traces(request(), [&](SpanTrace&&) { return ++taken < 3; });
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(taken, 3);
  EXPECT_EQ((*read)->traces, 3U);
}

TEST(GroupSpanTags, OfTagsThatWereAddedUpCountForTheSum) {
  RecordedSpans spans;
  spans.is_nested = {{"get{status=200}", false}, {"get{status=500}", true}, {"put", false}};
  RecordedSpans unchanged = spans;
  group_span_tags(unchanged, {});
  EXPECT_EQ(unchanged.is_nested, spans.is_nested);
  LabelChoice by_name;
  by_name.by.emplace();
  group_span_tags(spans, by_name);
  EXPECT_EQ(spans.is_nested, (std::map<std::string, bool>{{"get", true}, {"put", false}}));
  EXPECT_EQ(spans.groups, (std::map<std::string, std::string>{{"get{status=200}", "get"},
                                                              {"get{status=500}", "get"}}));
}

}  // namespace
}  // namespace pcp::trace::command
