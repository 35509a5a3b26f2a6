// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/span_sender.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "capturing.hpp"
#include "support/scarce_memory.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kNow = 1'000'000'000'000;

const std::vector<wire::Capture> kAsked{{7, 3, "tag=request limit=1000000/s"}};

struct SpanSenderTest : testing::Test {
  Doorbell doorbell;
  Recorders recorders{doorbell, 16};
  ClientOptions options;
  SpanSender sender{recorders, named(options)};
  Recorder& recorder = *recorders.reuse_or_make();
  const Tag* const tag = intern_tag("request");

  const int state_before = replace_state(PMTRACE_STATE_NONE);

  ~SpanSenderTest() override {
    recorders.captures().publish(nullptr);
    replace_state(state_before);
  }

  static const ClientOptions& named(ClientOptions& options) {
    options.service = "shop";
    return options;
  }
  static wire::Control control(std::uint64_t number, std::vector<wire::Capture> captures) {
    return {number, std::move(captures)};
  }
  // Another agent welcomes the sender and asks for captures.
  bool ask(std::vector<wire::Capture> captures = kAsked) {
    return sender.on_welcome(AgentChange::Another, 0, control(1, std::move(captures)));
  }
  bool come_back(AgentChange agent, std::uint64_t last_sequence) {
    sender.on_disconnected(kNow);
    return sender.on_welcome(agent, last_sequence, control(1, kAsked));
  }
  void trace(int count = 1) { run_on(recorder, tag, count); }
  void trace_parts(int count) { run_on(recorder, intern_tag("part"), count); }
  Open begin() { return begin_on(recorder, tag); }
  void end(const Open& open) { end_on(recorder, open); }
  // A request's headers had this trace.
  Open begin_from(std::uint64_t trace, const Tag* its) {
    const TraceContext header{
        .trace_high = 1, .trace_low = trace, .parent = 2, .packed = kCameInFlag};
    return {its, recorder.begin_in(its, {header, {}})};
  }
  // A span of a thread that had looked at these captures just before.
  CapturedSpan late_span(const CaptureSet& captures) const {
    CapturedSpan late;
    late.tag = tag;
    late.epoch = captures.epoch();
    late.context.set_capture_bits(captures.bits());
    return late;
  }
  PublishedCaptures::Reader read_on_another_thread() {
    return PublishedCaptures::Reader(recorders.captures(), reads_of(*recorders.reuse_or_make()));
  }
  static CaptureReads& reads_of(const Recorder& thread) {
    return const_cast<CaptureReads&>(thread.capture_reads());
  }
  void hand_over(CapturedSpan span) {
    const CaptureBits bits = span.capture_bits();
    const SpanPool::Index list = recorders.spans().flushers_share().make(
        [&](CapturedSpan& taken) { taken = std::move(span); });
    ASSERT_NE(list, 0U);
    recorders.spans().flushers_share().hand_over(list, {.at_once = bits});
  }
  // The next PDU, with the number of its spans; 0 if there is none.
  std::uint64_t spans_of_next() {
    const SpanBatch* const pdu = sender.next();
    return pdu != nullptr ? pdu->places.size() : 0;
  }
  wire::CaptureCount count(std::uint64_t capture) {
    const SpanBatch* const pdu = sender.next();
    EXPECT_NE(pdu, nullptr);
    if (pdu == nullptr) return {};
    for (const wire::CaptureCount& each : pdu->counts)
      if (each.capture == capture) return each;
    return {};
  }
};

TEST_F(SpanSenderTest, SendsOnePduAtATimeAndItsCounts) {
  EXPECT_TRUE(ask());
  EXPECT_EQ(sender.next(), nullptr);
  trace(3);
  EXPECT_EQ(sender.captured(), 3U);
  const SpanBatch* const pdu = sender.next();
  ASSERT_NE(pdu, nullptr);
  EXPECT_EQ(pdu->sequence, 1U);
  EXPECT_EQ(pdu->control, 1U);
  EXPECT_EQ(pdu->places.size(), 3U);
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 3}));
  trace(2);
  EXPECT_EQ(sender.next(), pdu);  // the same one
  EXPECT_EQ(pdu->places.size(), 3U);
  EXPECT_FALSE(sender.has_settled(1));
  EXPECT_TRUE(sender.on_ack(1));
  EXPECT_TRUE(sender.has_settled(3));
  EXPECT_FALSE(sender.has_settled(4));
  EXPECT_EQ(spans_of_next(), 2U);
  EXPECT_EQ(count(7).captured, 5U);
  EXPECT_FALSE(sender.on_ack(3));  // there was no such PDU
  EXPECT_TRUE(sender.on_ack(2));
  EXPECT_TRUE(sender.has_settled(5));
  EXPECT_EQ(sender.next(), nullptr);
}

TEST_F(SpanSenderTest, CapturesForThisProcessOnlyAndWhatItCanRead) {
  ask({{7, 3, "service=other"}, {8, 4, "process=x"}, {9, 5, "tga=request"}, {10, 6, "slower=1"}});
  EXPECT_EQ(recorders.captures().published(), nullptr);
  sender.on_control(control(2, {{7, 3, "service=other"}, {9, 5, "tag=request service=shop"}}));
  trace();
  EXPECT_EQ(sender.next()->spans_at[5], 1U);
  EXPECT_EQ(sender.next()->spans_at[3], 0U);
}

TEST_F(SpanSenderTest, CapturesAsSlowWhatBeganEarlier) {
  ask({{7, 3, "tag=request slower=1s"}});
  const Open earlier{tag, recorder.begin_since(tag, now_ns() / 2 << 1 | 1)};
  trace();
  end(earlier);
  EXPECT_EQ(spans_of_next(), 2U);
  trace();
  EXPECT_TRUE(sender.on_ack(1));
  EXPECT_EQ(spans_of_next(), 0U);
}

// An acknowledgement may take long, and monitors come and go meanwhile.
TEST_F(SpanSenderTest, SendsWhatWaitsHoweverOftenItIsAsked) {
  ask();
  trace(3);
  for (std::uint64_t number = 2; number <= 500; ++number) {
    sender.on_control(control(number, kAsked));
    sender.tick(kNow);
  }
  EXPECT_EQ(spans_of_next(), 3U);
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 3}));
}

TEST_F(SpanSenderTest, SendsASlowTreeOnceItIsKnownToBeSlow) {
  ask({{7, 3, "tag=request slower=1ns"}, {8, 4, "tag=request slower=3600s"}});
  const Open top = begin();
  trace_parts(2);
  EXPECT_EQ(sender.next(), nullptr);
  sender.on_control(control(2, {{7, 3, "tag=request slower=1ns"}}));
  end(top);
  const SpanBatch* const pdu = sender.next();
  ASSERT_NE(pdu, nullptr);
  EXPECT_EQ(pdu->control, 2U);
  EXPECT_EQ(pdu->places.size(), 3U);
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 3}));
}

TEST_F(SpanSenderTest, SlowTraceOfSeveralProcesses_IsToldWithItsSpansAndSentIfTold) {
  const std::vector<wire::Capture> asked{{7, 3, "tag=request slower=1ns"}};
  sender.on_welcome(AgentChange::Another, 0, control(1, asked), true);
  const std::vector<wire::WantedTrace> wanted{{wire::hash_of_trace(5), 8}};
  end(begin_from(5, tag));
  EXPECT_EQ(spans_of_next(), 1U);
  EXPECT_EQ(sender.next()->wanted, wanted);
  sender.on_ack(1);
  end(begin_from(6, intern_tag("part")));
  sender.tick(now_ns());
  EXPECT_EQ(sender.next(), nullptr);
  EXPECT_TRUE(sender.has_settled_all());
  sender.on_wanted({{wire::hash_of_trace(6), 8}});
  EXPECT_EQ(spans_of_next(), 1U);
  EXPECT_TRUE(sender.next()->wanted.empty());
  sender.on_ack(2);
  end(begin_from(7, intern_tag("part")));
  end(begin_from(8, tag));
  sender.give_undecided();
  EXPECT_FALSE(sender.has_settled_all());
  EXPECT_EQ(spans_of_next(), 2U);
  EXPECT_EQ(sender.next()->wanted[0].hash, wire::hash_of_trace(8));
  EXPECT_EQ(count(7).captured, 3U);  // without the one that the agent is to hold
  sender.on_wanted({{wire::hash_of_trace(7), 8}});
  EXPECT_TRUE(sender.on_ack(3));
  EXPECT_EQ(sender.next(), nullptr);  // the agent has it
  EXPECT_TRUE(sender.has_settled_all());
}

TEST_F(SpanSenderTest, SlowTraceOfAProcessThatTheFilterNames_IsSentByOthers) {
  sender.on_welcome(AgentChange::Another, 0, control(1, {{7, 3, "service=other slower=1ns"}}),
                    true);
  end(begin_from(5, tag));
  trace();
  EXPECT_EQ(sender.next(), nullptr);
  sender.on_wanted({{wire::hash_of_trace(5), 8}});
  EXPECT_EQ(spans_of_next(), 1U);
}

// Nothing else happens, but the sender has to look at it.
TEST_F(SpanSenderTest, TransactionThatMayBecomeSlow_IsWatched) {
  ask({{7, 3, "tag=request slower=3600s"}});
  const Open open = begin();
  sender.tick(now_ns());
  EXPECT_TRUE(sender.is_watching());
  end(open);
  sender.tick(now_ns());
  EXPECT_FALSE(sender.is_watching());
}

TEST_F(SpanSenderTest, PartsOfWhatIsOpenAtTheEnd_AreForTheAgent) {
  ask({{7, 3, "tag=request slower=3600s"}});
  begin();
  trace();
  trace_parts(1);
  sender.give_undecided();
  EXPECT_EQ(spans_of_next(), 2U);
  EXPECT_FALSE(sender.has_settled_all());
  EXPECT_TRUE(sender.on_ack(1));
  EXPECT_TRUE(sender.has_settled_all());
}

TEST_F(SpanSenderTest, UndecidedAtTheEnd_AreForTheAgentAlsoIfItConnectsLater) {
  ask({{7, 3, "tag=request slower=3600s"}});
  begin();
  trace_parts(1);
  sender.on_disconnected(kNow);
  sender.give_undecided();
  EXPECT_FALSE(sender.has_settled_all());
  sender.on_welcome(AgentChange::Same, 0, control(1, {{7, 3, "tag=request slower=3600s"}}));
  EXPECT_EQ(spans_of_next(), 1U);
}

TEST_F(SpanSenderTest, UndecidedAtTheEnd_AreForTheAgentHoweverMuchIsReady) {
  ask({{7, 3, "tag=request slower=3600s"}, {8, 4, "tag=request limit=1000000/s"}});
  constexpr std::uint64_t kMany = 8'000;
  begin();
  trace(kMany);
  sender.give_undecided();
  std::uint64_t sent = 0;
  for (std::uint64_t sequence = 1; sender.next() != nullptr; ++sequence) {
    sent += spans_of_next();
    ASSERT_TRUE(sender.on_ack(sequence));
  }
  EXPECT_GT(sent, kMany + 2'000);  // beside those of the other capture
}

TEST_F(SpanSenderTest, ComesToAnEndWhileThreadsAreFasterThanIt) {
  ask({{7, 3, "tag=request slower=1ns limit=1/s"}});
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      Recorder& own = *recorders.reuse_or_make();
      while (!is_over) run_on(own, tag);
    });
  for (int times = 0; times < 5; ++times) {
    while (recorders.spans_in_use() < SpanPool::kMost / 4) std::this_thread::yield();
    const std::uint64_t before = sender.captured();
    sender.sort(now_ns());
    EXPECT_FALSE(sender.has_settled(before + SpanPool::kMost + 1'000));
    if (const SpanBatch* const pdu = sender.next()) sender.on_ack(pdu->sequence);
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SpanSenderTest, ForgetsWhatHasEndedInsideIfNobodyAsksAnyMore) {
  ask({{7, 3, "tag=request slower=3600s"}});
  begin();
  trace(2);
  sender.on_control(control(2, {}));
  sender.tick(kNow);
  EXPECT_TRUE(sender.has_settled_all());
}

struct SpanSenderFromStart : SpanSenderTest {
  ClientOptions with_capture;
  std::unique_ptr<SpanSender> from_start;

  SpanSenderFromStart() {
    with_capture.capture = "tag=request limit=1000000/s";
    capture_from_start(recorders, with_capture);
    trace();
    from_start = std::make_unique<SpanSender>(recorders, with_capture);
    trace();
  }
  void ask_for_the_same() {
    from_start->on_welcome(AgentChange::Another, 0, control(5, {{7, 0, with_capture.capture}}));
  }
  void expect_only_count(const wire::CaptureCount& expected) {
    const SpanBatch* const pdu = from_start->next();
    ASSERT_NE(pdu, nullptr);
    EXPECT_EQ(pdu->control, 5U);
    EXPECT_EQ(pdu->counts, std::vector{expected});
  }
};

TEST_F(SpanSenderFromStart, HasAllFromTheFirstCallOnForWhoAsksForTheSame) {
  const Open open = begin();
  ask_for_the_same();
  end(open);
  expect_only_count({.capture = 7, .captured = 3});
  EXPECT_EQ(from_start->next()->places.size(), 3U);
}

TEST_F(SpanSenderFromStart, ForgetsItIfNobodyAsks) {
  from_start->on_welcome(AgentChange::Another, 0, control(5, {{7, 1, with_capture.capture}}));
  EXPECT_EQ(from_start->next(), nullptr);
  trace();
  ASSERT_NE(from_start->next(), nullptr);
  EXPECT_EQ(from_start->next()->places.size(), 1U);
  from_start->on_welcome(AgentChange::Another, 0, {});
  EXPECT_EQ(recorders.captures().published(), nullptr);
}

TEST_F(SpanSenderFromStart, CountsWhatHadToWaitForTooLong) {
  from_start->tick(now_ns() + 11'000'000'000);
  EXPECT_EQ(recorders.captures().published(), nullptr);
  ask_for_the_same();
  expect_only_count({.capture = 7, .captured = 2, .missed_away = 2});
}

TEST_F(SpanSenderTest, PutsNoSpansOfTwoSetsIntoOnePdu) {
  ask();
  trace(2);
  sender.on_control(control(2, {kAsked[0], {8, 4, "tag=request"}}));
  trace(3);
  EXPECT_EQ(spans_of_next(), 2U);
  EXPECT_EQ(sender.next()->control, 1U);
  sender.on_ack(1);
  EXPECT_EQ(spans_of_next(), 3U);
  EXPECT_EQ(sender.next()->control, 2U);
  EXPECT_EQ(count(7).captured, 5U);
  EXPECT_EQ(count(8).captured, 3U);
}

TEST_F(SpanSenderTest, HasNoMoreInAPduThanItMay) {
  ask();
  trace(2000);
  std::uint64_t spans = 0;
  for (std::uint64_t sequence = 1; const SpanBatch* const pdu = sender.next(); ++sequence) {
    std::string out;
    wire::append_events(out, 1, pdu->sequence, pdu->control, pdu->counts, pdu->wanted, pdu->body);
    EXPECT_LE(out.size(), wire::kMaxEventsPduBytes);
    spans += pdu->places.size();
    EXPECT_TRUE(sender.on_ack(sequence));
  }
  EXPECT_EQ(spans, 2000U);
}

TEST_F(SpanSenderTest, SendsAgainToTheSameAgentOnANetworkThatComesAndGoes) {
  ask();
  trace(2);
  EXPECT_EQ(spans_of_next(), 2U);
  for (int i = 0; i < 100; ++i) {
    sender.on_disconnected(kNow);
    EXPECT_EQ(sender.next(), nullptr);
    if (i == 0) trace();  // goes on
    sender.tick(kNow + 1);
    EXPECT_TRUE(come_back(AgentChange::Same, 0));
    EXPECT_EQ(spans_of_next(), 2U);
    EXPECT_EQ(sender.next()->sequence, 1U);
  }
  EXPECT_TRUE(come_back(AgentChange::Same, 1));  // it had arrived
  EXPECT_EQ(spans_of_next(), 1U);
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 3}));
}

TEST_F(SpanSenderTest, TellsAnAgentThatForgotNothingTwice) {
  ask();
  trace(2);
  EXPECT_EQ(spans_of_next(), 2U);
  sender.on_ack(1);
  trace(3);
  EXPECT_EQ(spans_of_next(), 3U);
  EXPECT_TRUE(come_back(AgentChange::SameThatForgot, 0));
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 3, .missed_away = 3}));
  sender.on_ack(3);
  trace();
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 4, .missed_away = 3}));
}

TEST_F(SpanSenderTest, CapturesNothingMoreWithoutAnAgent) {
  ask();
  trace(2);
  sender.on_disconnected(kNow);
  sender.tick(kNow + 9'000'000'000);
  EXPECT_NE(recorders.captures().published(), nullptr);
  sender.tick(kNow + 11'000'000'000);
  EXPECT_EQ(recorders.captures().published(), nullptr);
  EXPECT_TRUE(sender.has_settled(sender.captured()));
  // But the same agent is told.
  sender.on_welcome(AgentChange::Same, 0, control(1, kAsked));
  trace();
  EXPECT_EQ(spans_of_next(), 1U);
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 3, .missed_away = 2}));
  sender.on_disconnected(kNow);
  sender.on_welcome_without();
  EXPECT_EQ(sender.next(), nullptr);
}

TEST_F(SpanSenderTest, CountsWhatComesWhenItHasGivenUp) {
  ask();
  trace();
  CapturedSpan late = late_span(*recorders.captures().published());
  sender.on_disconnected(kNow);
  sender.tick(kNow + 11'000'000'000);
  hand_over(std::move(late));
  sender.tick(kNow + 12'000'000'000);
  EXPECT_TRUE(sender.has_settled_all());
  sender.on_welcome(AgentChange::Same, 0, control(1, kAsked));
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 2, .missed_away = 2}));
}

TEST_F(SpanSenderTest, TellsCountsAloneAndTakesNoneBackWhereAThreadStillLooksAtAnEarlierSet) {
  ask({{7, 3, "tag=request limit=1/s"}});
  trace(100);
  EXPECT_EQ(count(7).captured, 100U);
  EXPECT_GE(count(7).missed_limit, 90U);
  const PublishedCaptures::Reader reader = read_on_another_thread();
  sender.on_ack(1);
  sender.on_control(control(2, {{7, 3, "tag=request limit=1/s"}, {8, 4, "tag=other"}}));
  sender.tick(kNow);
  trace(10);
  EXPECT_EQ(count(7).captured, 110U);
}

#ifdef TRACE_SCARCE_MEMORY
TEST_F(SpanSenderTest, SendsOrCountsEachSpanThoughMemoryRunsOut) {
  std::uint64_t number = 0;
  for (std::size_t bytes = 1; bytes < 1 << 17; bytes *= 2) {
    sender.on_welcome(
        AgentChange::Another, 0,
        control(++number, {kAsked[0], {8, 4, "tag=request slower=1ns limit=100000/s"}}));
    for (int i = 0; i < 100; ++i) {
      const Open top = begin();
      trace_parts(1);
      end(top);
    }
    for (int tries = 0; tries < 3; ++tries) {
      const ScarceMemory scarce(bytes);
      throws([&] { sender.sort(kNow); });
      throws([&] { sender.next(); });
    }
    std::map<std::uint64_t, wire::CaptureCount> told;
    CaptureBooks::SpanCounts sent{};
    while (const SpanBatch* const pdu = sender.next()) {
      for (const wire::CaptureCount& each : pdu->counts) told[each.capture] = each;
      for (std::size_t bit = 0; bit < sent.size(); ++bit) sent[bit] += pdu->spans_at[bit];
      ASSERT_TRUE(sender.on_ack(pdu->sequence));
    }
    for (const auto& [capture, bit] : {std::pair<std::uint64_t, std::size_t>{7, 3}, {8, 4}}) {
      const wire::CaptureCount& count = told[capture];
      EXPECT_EQ(count.captured, 200U) << bytes;
      EXPECT_EQ(sent[bit] + count.missed_full + count.missed_waiting, 200U) << bytes;
    }
    EXPECT_TRUE(sender.has_settled_all()) << bytes;
  }
}

TEST_F(SpanSenderTest, SendsOrCountsEachHeldSpanThoughMemoryRunsOut) {
  std::vector<wire::WantedTrace> wanted;
  for (std::uint64_t id = 1; id <= 100; ++id) wanted.push_back({wire::hash_of_trace(id), 8});
  for (std::size_t bytes = 1, round = 1; bytes < 1 << 17; bytes *= 2, ++round) {
    sender.on_welcome(AgentChange::Another, 0,
                      control(round, {{7, 3, "tag=request slower=3600s limit=1000000/s"}}), true);
    std::optional<ScarceMemory> scarce;
    for (std::uint64_t id = 1; id <= 100; ++id) {
      end(begin_from(id, intern_tag("part")));
      if (id == 50 && round % 2 == 0) sender.sort(kNow);  // then the ring exists
    }
    scarce.emplace(bytes);
    throws([&] { sender.sort(kNow); });
    throws([&] { sender.on_wanted(wanted); });
    throws([&] { sender.next(); });
    scarce.reset();
    sender.on_wanted(wanted);
    std::uint64_t sent = 0;
    wire::CaptureCount told;
    while (const SpanBatch* const pdu = sender.next()) {
      sent += pdu->places.size();
      if (!pdu->counts.empty()) told = pdu->counts.front();
      ASSERT_TRUE(sender.on_ack(pdu->sequence));
    }
    EXPECT_EQ(told.captured, 100U) << bytes;
    EXPECT_EQ(sent + told.missed_full, 100U) << bytes;
  }
}

TEST_F(SpanSenderTest, KeepsASetForAThreadThatJoinsWhileTheSetIsReplaced) {
  ask();
  std::optional<PublishedCaptures::Reader> reader;
  reader.emplace(recorders.captures(), reads_of(recorder));
  sender.on_control(control(2, kAsked));
  sender.on_disconnected(kNow);
  const DuringAllocation joins(
      16, [&] { reader.emplace(recorders.captures(), reads_of(*recorders.reuse_or_make())); });
  sender.tick(kNow + 11'000'000'000);  // removes the set
  ASSERT_TRUE(reader && *reader);
  EXPECT_EQ(recorders.captures().unretired(), 1U);
}
#endif

// The other agent may use the same numbers.
TEST_F(SpanSenderTest, CountsNothingOfAnotherAgentForThisOne) {
  sender.on_welcome(AgentChange::Another, 0, control(3, {{7, 3, "tag=request limit=1/s"}}));
  trace(100);
  const PublishedCaptures::Reader reader = read_on_another_thread();
  EXPECT_NE(spans_of_next(), 0U);
  sender.on_disconnected(kNow);
  ask();
  hand_over(late_span(*reader));
  trace();
  EXPECT_EQ(spans_of_next(), 1U);
  EXPECT_EQ(sender.next()->control, 1U);
  EXPECT_EQ(count(7), (wire::CaptureCount{.capture = 7, .captured = 1}));
}

TEST_F(SpanSenderTest, CountsWhatMayHaveBeenTakenForTheAgentThatForgot) {
  for (const std::uint64_t capture : std::vector<std::uint64_t>{7, 9}) {
    ask({{capture, 3, "tag=request"}});
    trace();
    EXPECT_EQ(spans_of_next(), 1U);
    sender.on_disconnected(kNow);
  }
  sender.on_welcome(AgentChange::SameThatForgot, 0, control(1, {{9, 3, "tag=request"}}));
  EXPECT_EQ(count(9), (wire::CaptureCount{.capture = 9, .captured = 1, .missed_away = 1}));
}

TEST_F(SpanSenderTest, RefusesAnAgentThatHasWhatWasNeverSent) {
  for (const AgentChange agent :
       {AgentChange::Another, AgentChange::SameThatForgot, AgentChange::Same})
    EXPECT_FALSE(sender.on_welcome(agent, 1, control(1, kAsked)));
}

}  // namespace
}  // namespace pcp::trace::client
