// SPDX-License-Identifier: LGPL-2.1-or-later
// Filters with slower=: the program's threads and the flusher together.
#include "spans/slow_trees.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "capturing.hpp"
#include "spans/slow_spans.hpp"

namespace pcp::trace::client {
namespace {

const std::string kAll = " limit=1000000/s";
const std::string kFast = " slower=3600s" + kAll;  // everything is faster
const std::string kSlow = " slower=1ns" + kAll;

constexpr std::size_t kHold = 2 << 20;

using Outcome = CaptureBooks::Outcome;
using Spans = std::map<std::uint64_t, CaptureBits>;  // by their ids; 0: events

struct SlowTreesTest : Capturing {
  Recorder another{shared, doorbell, 16};  // another thread's
  std::vector<Recorder*> threads{&recorder, &another};
  struct Sent {
    CapturedSpan span;
    bool is_held;
  };
  std::vector<Sent> sent;
  std::map<Outcome, std::size_t> missed_spans;
  HeldTraces::CountMissed count = [this](std::uint16_t, CaptureBits bits, Outcome outcome) {
    if (bits != 0) missed_spans[outcome] += static_cast<std::size_t>(std::popcount(bits));
  };
  // Takes what is to be sent.
  void send(TakenSpans& from) {
    for (TakenSpans::Ready next; from.next(next); from.remove_next(nullptr)) {
      CapturedSpan span{.tag = from.tag_of(*next.record)};
      span.context.set_capture_bits(next.bits);
      add_fields(span, from, next);
      sent.push_back({std::move(span), next.is_held});
    }
    from.settle({});
  }
  static void add_fields(CapturedSpan& span, const TakenSpans& from,
                         const TakenSpans::Ready& ready) {
    std::string body, pdu;
    from.append(ready, body);
    wire::append_events(pdu, 1, 1, 1, {}, {}, body);
    wire::Events events;
    ASSERT_TRUE(wire::decode_events(std::string_view(pdu).substr(wire::kHeaderBytes), events));
    const wire::Span& found = events.spans.at(0);
    span.kind = found.kind;
    span.context.trace_low = found.trace.low;
    span.context.own = found.span;
    span.duration_ns = found.duration_ns;
    if (found.attributes.empty()) return;
    span.notes = std::make_unique<SpanNotes>(Moment{});
    for (const auto& each : found.attributes) span.notes->add(each.key, each.text, each.number);
  }
  TakenSpans taken{shared.box(), kHold};
  HeldTraces held{taken, count};
  SlowSpans flusher{shared.spans(), shared.slow_trees(), held};
  std::uint64_t now = now_ns();

  void ask(const std::string& of_requests, const std::string& of_queries = "",
           bool is_relayed = false) {
    shared.box().make(kHold);
    auto set = std::make_unique<CaptureSet>(1, &shared.box());
    if (is_relayed) set->set_relayed();
    add_filter(*set, {3, 3, "tag=request*" + of_requests});
    if (!of_queries.empty()) add_filter(*set, {5, 5, "tag=query*" + of_queries});
    shared.captures().publish(std::move(set));
  }
  std::uint64_t missed() { return captures().at(3).missed->full; }

  std::uint32_t entries() { return shared.open_entries().end_of_numbers(); }
  void expire(std::uint64_t now_ns) { flusher.expire(entries(), captures(), now_ns); }
  void hold_all() { flusher.hold_all(entries(), shared.captures().published()); }
  int lists_taken = 0;
  void settle() {
    while (const SpanPool::Index list = shared.spans().next_list()) {
      shared.spans().remove_list();
      ++lists_taken;
      flusher.settle(list, shared.captures().published(), now);
    }
    send(taken);
  }
  // Spans to be sent since the last call.
  Spans kept() {
    settle();
    Spans found;
    for (const Sent& each : std::exchange(sent, {})) {
      const std::uint64_t id = wire::is_event(each.span.kind) ? 0 : each.span.context.own;
      found[id] |= each.span.capture_bits();
    }
    return found;
  }
  std::size_t missed(Outcome outcome) {
    settle();
    return std::exchange(missed_spans[outcome], 0);
  }
  bool has_more() {
    std::erase_if(missed_spans, [](const auto& each) { return each.second == 0; });
    return !sent.empty() || !missed_spans.empty();
  }
  std::int64_t waiting() {
    settle();
    const auto in_list = [](const SpanPool::Share& share) {
      return static_cast<std::int64_t>(share.taken() - share.given_back());
    };
    std::int64_t in_use = in_list(shared.spans().flushers_share());
    for (const Recorder* const each : threads) in_use += in_list(each->spans());
    return in_use;
  }
};

TEST_F(SlowTreesTest, TheFlusherHearsNothingOfFastTrees) {
  ask(kFast + " kind=point");
  for (int i = 0; i < 20'000; ++i) {  // of five each: more than the pool has room for
    const Open top = begin(request);
    const Open inner = begin(query);
    run(part, 2);
    recorder.capture_event(part, wire::SpanKind::Point, 0);
    end(inner);
    ASSERT_EQ(waiting(), 4);
    end(top);
    ASSERT_EQ(waiting(), 0);
  }
  EXPECT_EQ(lists_taken, 0);
  EXPECT_EQ(missed(), 0U);
}

TEST_F(SlowTreesTest, ASlowOneIsKeptWithAllThatIsInside) {
  ask(kSlow + " kind=point");
  const Open top = begin(request);
  const Open inner = begin(query);
  run(part, 2);
  recorder.capture_event(part, wire::SpanKind::Point, 0);
  end(inner);
  EXPECT_EQ(kept(), Spans{});
  end(top);
  const Spans spans = kept();
  EXPECT_EQ(spans.size(), 5U);
  EXPECT_EQ(spans.at(top.id()), kRequest);
  EXPECT_EQ(spans.at(inner.id()), kRequest);
  EXPECT_EQ(spans.at(0), kRequest);
  EXPECT_EQ(lists_taken, 1);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(SlowTreesTest, EachFilterSelectsForItself) {
  ask(kSlow, kFast);
  const Open top = begin(request);
  const Open inner = begin(query);
  run(part);
  end(inner);
  end(top);
  for (const auto& [id, bits] : kept()) EXPECT_EQ(bits, kRequest);
  EXPECT_EQ(waiting(), 0);

  ask(kFast, kSlow);
  const Open second = begin(request);
  const Open slow = begin(query);
  run(part);
  end(slow);
  const Spans spans = kept();
  EXPECT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans.at(slow.id()), kQuery);
  EXPECT_EQ(waiting(), 2);  // for the other filter
  end(second);
  EXPECT_EQ(kept(), Spans{});
  EXPECT_EQ(waiting(), 0);

  ask(kSlow, kSlow);
  const Open both = begin(request);
  const Open of_both = begin(query);
  end(of_both);
  EXPECT_EQ(kept(), (Spans{{of_both.id(), kQuery}}));
  end(both);
  EXPECT_EQ(kept(), (Spans{{of_both.id(), kRequest}, {both.id(), kRequest}}));
}

TEST_F(SlowTreesTest, SpansThatAFilterWantsInAnyCaseDoNotWait) {
  ask(kFast, " limit=1000000/s");
  const Open top = begin(request);
  const Open inner = begin(query);
  end(inner);
  EXPECT_EQ(kept(), (Spans{{inner.id(), kQuery}}));
  EXPECT_EQ(waiting(), 1);
  end(top);
  EXPECT_EQ(kept(), Spans{});
  EXPECT_EQ(waiting(), 0);
}

TEST_F(SlowTreesTest, NotesGoWithBothCopiesOfASpan) {
  ask(kSlow, " limit=1000000/s");
  const Open top = begin(request);
  const Open inner = begin(query);
  const std::uint32_t entry = OpenTable::entry_at(inner.traced.begun.ref)->number;
  auto notes = take_or_make_notes(entry, inner.traced.begun.moment);
  notes->add("rows", {}, 7);
  put_back_notes(entry, std::move(notes));
  end(inner);
  end(top);
  settle();
  int with_notes = 0;
  for (const Sent& each : sent) {
    if (each.span.notes == nullptr) continue;
    wire::Span described;
    each.span.notes->fill(described);
    EXPECT_EQ(described.attributes[0].number, 7);
    ++with_notes;
  }
  EXPECT_EQ(with_notes, 2);
}

TEST_F(SlowTreesTest, APartThatBeginsAfterItsSlowTopHasEndedIsKept) {
  for (const bool entry_is_used_again : {false, true}) {
    ask(kSlow);
    const Open top = begin(request);
    end(top);
    if (entry_is_used_again) run(request);
    const Open late = begin_inside(top, part);
    const Open inner = begin_inside(late, part);
    end(late);
    end(inner);
    EXPECT_EQ(kept().size(), entry_is_used_again ? 4U : 3U);
    EXPECT_EQ(waiting(), 0);
  }
}

// Its parent is not in any list yet.
TEST_F(SlowTreesTest, APartWhoseParentBeganInAnEndedSlowOneIsKept) {
  ask(kSlow);
  const Open top = begin(request);
  end(top);
  run(request);
  const Open late = begin_inside(top, part);
  run_inside(late, part);
  settle();
  end(late);
  EXPECT_EQ(kept().size(), 4U);
  EXPECT_EQ(waiting(), 0);
}

// Its entry is another's: only the flusher can tell whose part it is.
TEST_F(SlowTreesTest, APartThatBeginsInAnEndedPartWaitsForIt) {
  for (const std::string& filter : {kFast, kSlow}) {
    ask(filter + " kind=point");
    const Open top = begin(request);
    const Open ended = begin(part);
    end(ended);
    const Open in_the_same_entry = begin(part);
    const Open late = begin_inside(ended, part);
    EXPECT_EQ(late.traced.context.parent, ended.id());
    const Open inner = begin(part);
    recorder.capture_event(part, wire::SpanKind::Point, 0);
    end(inner);
    end(late);
    end(in_the_same_entry);
    EXPECT_EQ(kept(), Spans{});
    end(top);
    EXPECT_EQ(kept().size(), filter == kSlow ? 6U : 0U);
    EXPECT_EQ(waiting(), 0);
  }
}

TEST_F(SlowTreesTest, APartThatBeginsAfterItsFastTopHasEndedIsNotMissed) {
  ask(kFast);
  const Open fast = begin(request);
  end(fast);
  const Open in_the_same_entry = begin(request);
  run_inside(fast, part);
  EXPECT_EQ(waiting(), 0);
  end(in_the_same_entry);
  EXPECT_FALSE(has_more());
}

// The flusher hears of the part first for the other filter, when its entry is another's already.
TEST_F(SlowTreesTest, FiltersDoNotTakePartsFromEachOther) {
  for (const std::string& of_queries : {std::string(" limit=1000000/s"), kSlow}) {
    ask(" slower=1ms limit=1000000/s", of_queries);
    const Open top = begin(request);
    const auto began = now_ns();
    const Open fast = begin(request);
    const Open inner = begin(query);
    end(inner);
    end(fast);
    for (int i = 0; i < 3; ++i) run(request);
    while (now_ns() - began < 1'500'000) continue;
    end(top);
    Spans spans;
    settle();
    for (const Sent& each : sent) spans[each.span.context.own] |= each.span.capture_bits();
    sent.clear();
    EXPECT_EQ(spans.at(inner.id()), kRequest | kQuery);
    EXPECT_EQ(spans.size(), 6U);
    EXPECT_EQ(waiting(), 0);
  }
}

// Both are handed over for the other filter. The flusher hears of the part when its parent's entry
// is another's.
TEST_F(SlowTreesTest, NothingOfAFastTreeWaitsBesideAnotherFilter) {
  ask(kFast, " limit=1000000/s");
  for (int i = 0; i < 10'000; ++i) {
    const Open top = begin(query);
    const Open fast = begin(request);
    const Open inner = begin(query);
    end(inner);
    end(fast);
    run(request);
    end(top);
    settle();
    ASSERT_TRUE(missed_spans.empty());
    sent.clear();
    ASSERT_EQ(waiting(), 0) << i;
  }
}

TEST_F(SlowTreesTest, OneMayHaveAnyNumberOfPartsThatOutliveIt) {
  ask(kFast, kSlow);
  const Open outer = begin(query);
  const Open fast = begin(request);
  detach(fast);
  std::vector<Open> parts;
  for (int i = 0; i < 5'000; ++i) {
    parts.push_back(begin_inside(fast, part));
    detach(parts.back());
  }
  end(fast);
  run(request);
  for (const auto& each : parts) end(each);
  settle();
  end(outer);
  EXPECT_EQ(kept().size(), 5'003U);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(SlowTreesTest, LatePartsOfATreeOverItsLimitAreCounted) {
  ask(" slower=1ns limit=1/s");
  std::size_t counted = 0;
  for (int i = 0; i < 20; ++i) {
    const Open top = begin(request);
    const Open late = begin(part);
    const Open later = begin_inside(late, part);
    detach(late);
    detach(later);
    end(top);
    run(request);
    end(later);
    end(late);
    counted += kept().size() + missed(Outcome::OverLimit);
  }
  EXPECT_EQ(counted, 80U);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(SlowTreesTest, PartsOfOneThatStaysOpenAreKeptIfOneAroundWasSlow) {
  ask(kFast, kSlow);
  const Open slow = begin(query);
  const Open stays_open = begin(request);
  run(part, 2);
  end(slow);
  EXPECT_EQ(kept().size(), 1U);
  hold_all();
  EXPECT_EQ(kept().size(), 2U);
  EXPECT_EQ(waiting(), 0);
  detach(stays_open);
}

TEST_F(SlowTreesTest, CopiesThatThreadsEndAtOnceMakeOneSpan) {
  ask(kSlow);
  constexpr int kTimes = 5'000;
  std::atomic<int> begun{0};  // released with the copy
  std::atomic<int> ended{0};
  Open copy;
  std::thread thread([&] {
    for (int i = 1; i <= kTimes; ++i) {
      while (begun.load(std::memory_order_acquire) < i) continue;
      end_on(another, copy);
      ended.store(i, std::memory_order_release);
    }
  });
  std::size_t spans = 0;
  for (int i = 1; i <= kTimes; ++i) {
    const auto top = copy = begin(request);
    run(part);
    begun.store(i, std::memory_order_release);
    end(top);
    while (ended.load(std::memory_order_acquire) < i) continue;
    settle();
    spans += sent.size();
    sent.clear();
  }
  thread.join();
  EXPECT_EQ(spans, 2U * kTimes);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(SlowTreesTest, TheLimitIsForTreesThatAreKeptAndForWholeOnes) {
  ask(" slower=1ns limit=2/s");
  std::size_t kept_spans = 0;
  for (int i = 0; i < 20; ++i) {
    const Open top = begin(request);
    const Open inner = begin(request);  // selected, too
    run(part);
    end(inner);
    end(top);
    const Spans kept = this->kept();
    const std::size_t over = missed(Outcome::OverLimit);
    EXPECT_EQ(kept.size() + over, 3U);
    EXPECT_TRUE(kept.empty() || over == 0);
    kept_spans += kept.size();
  }
  EXPECT_GE(kept_spans, 3U);
  EXPECT_LE(kept_spans, 9U);
}

TEST_F(SlowTreesTest, ATraceOverTheLimitStaysOutForSomeSeconds) {
  ask(" slower=1ns limit=1/s");
  const TraceContext in_any_share{.trace_high = 1, .trace_low = UINT64_MAX};
  const Open top{request, recorder.begin_in(request, {in_any_share, {}})};
  const Open inner = begin(request);
  const Open innermost = begin(request);
  for (int i = 0; i < 20; ++i) captures().at(3).limit.count(now);
  end(innermost);
  EXPECT_EQ(kept(), Spans{});
  now += 2'000'000'000;
  end(inner);
  EXPECT_EQ(kept(), Spans{});
  EXPECT_EQ(missed(Outcome::OverLimit), 2U);
  now += 10'000'000'000;
  end(top);
  EXPECT_EQ(kept().size(), 1U);
}

TEST_F(SlowTreesTest, WithoutRoomTheOldestTreesAreHeldElsewhere) {
  ask(kSlow);
  std::vector<Open> tops;
  for (int i = 0; i < 8; ++i) {
    tops.push_back(begin(request));
    run(part, SpanPool::kMost / 10);
    detach(tops.back());
  }
  EXPECT_GT(shared.spans().taken(), SpanPool::kMost / 4 * 3);
  expire(now_ns());
  EXPECT_LE(waiting(), SpanPool::kMost / 10 * 7);
  EXPECT_GT(waiting(), 0);
  end(tops.front());
  EXPECT_EQ(kept().size(), SpanPool::kMost / 10 + 1U);
  end(tops.back());
  EXPECT_EQ(kept().size(), SpanPool::kMost / 10 + 1U);
  EXPECT_FALSE(has_more());
}

TEST_F(SlowTreesTest, WithoutAnyRoomSpansAreMissed) {
  ask(kSlow);
  const Open top = begin(request);
  run(part, SpanPool::kMost + 100);
  EXPECT_EQ(missed(), 100U);
  end(top);
  EXPECT_EQ(missed(), 101U + SpanPool::kMost);  // none without its top
  EXPECT_EQ(waiting(), 0);
}

TEST_F(SlowTreesTest, LargeTreesGiveBackTheirRoom) {
  ask(kFast);
  for (int i = 0; i < 100; ++i) {
    const Open top = begin(request);
    run(part, 1'000);
    end(top);
    const Open small = begin(request);
    run(part, 20);
    end(small);
  }
  EXPECT_LE(shared.spans().taken(), 32U);  // spare ones of this thread
  EXPECT_EQ(missed(), 0U);
}

TEST_F(SlowTreesTest, ForgetsWhatNobodyAsksForAnyMore) {
  ask(kSlow, kSlow);
  const Open top = begin(request);
  const Open inner = begin(query);
  run(part);
  ask(kFast);
  end(inner);
  end(top);
  EXPECT_EQ(kept(), Spans{});
  const Open next = begin(request);
  run(part);
  shared.captures().publish(nullptr);
  end(next);
  EXPECT_EQ(waiting(), 0);
}

// A process that has a part of what another one wants.
struct HeldTracesTest : SlowTreesTest {
  // A request's headers had this trace.
  Open begin_from_header(std::uint64_t trace) {
    const TraceContext header{
        .trace_high = 1, .trace_low = trace, .parent = 2, .packed = kCameInFlag};
    return {part, recorder.begin_in(part, {header, {}})};
  }
  // One with a part inside.
  Spans run_from_header(std::uint64_t trace) {
    const Open came_in = begin_from_header(trace);
    const Open inner = begin(query);
    end(inner);
    end(came_in);
    return {{came_in.id(), kRequest}, {inner.id(), kRequest}};
  }
  // Another process wants it.
  void want(std::uint64_t trace, CaptureBits bits = kRequest) {
    held.want({wire::hash_of_trace(trace), bits}, captures(), now);
    send(taken);
  }
  void hold(HeldTraces& in, CapturedSpan&& span, CaptureBits bits = kRequest,
            const std::string& text = "") {
    span.context.set_capture_bits(bits);
    span.epoch = captures().epoch();
    if (!text.empty()) {
      span.notes = std::make_unique<SpanNotes>(Moment{});
      span.notes->add("text", text, {});
    }
    in.take(span, {.held = bits}, &captures(), now);
  }
  std::vector<wire::WantedTrace> news() {
    std::vector<wire::WantedTrace> all;
    held.take_news(captures(), 100, all);
    return all;
  }
};

TEST_F(HeldTracesTest, PartOfAnotherProcess_IsKeptOnceWanted) {
  ask(kFast, "", true);
  const Spans of_seven = run_from_header(7);
  const Spans of_eight = run_from_header(8);
  EXPECT_EQ(kept(), Spans{});
  EXPECT_EQ(waiting(), 0);  // the pool is for the program's threads
  want(7);
  EXPECT_EQ(kept(), of_seven);
  const Spans more_of_seven = run_from_header(7);
  EXPECT_EQ(kept(), more_of_seven);
  want(8, kQuery);  // of no capture
  EXPECT_EQ(kept(), Spans{});
  EXPECT_TRUE(news().empty());
}

TEST_F(HeldTracesTest, OpenPartOfAnotherProcess_IsKeptIfWantedMeanwhile) {
  ask(kFast, "", true);
  const Open came_in = begin_from_header(7);
  run(query);
  want(7);
  end(came_in);
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(HeldTracesTest, PartThatEndsAfterWhatCameIn_IsKept) {
  ask(kFast, "", true);
  const Open came_in = begin_from_header(7);
  const Open late = begin_inside(came_in, part);
  detach(late);
  end(came_in);
  run(request);
  end(late);
  want(7);
  EXPECT_EQ(kept(), (Spans{{came_in.id(), kRequest}, {late.id(), kRequest}}));
}

TEST_F(HeldTracesTest, PartThatAnotherFilterWantsAtOnce_IsKept) {
  ask(kFast, " limit=1000000/s", true);
  const Open came_in = begin_from_header(7);
  const Open inner = begin(query);
  end(inner);
  end(came_in);  // before the flusher sees the list of the inner one
  EXPECT_EQ(kept(), (Spans{{inner.id(), kQuery}}));
  want(7);
  EXPECT_EQ(kept(), (Spans{{came_in.id(), kRequest}, {inner.id(), kRequest}}));
}

TEST_F(HeldTracesTest, TopWithAPartThatGivesTheTraceAwayLater_IsKept) {
  ask(kFast, "", true);
  run_from_header(8);  // traces come in and go out here
  const Open top = begin(request);
  const Open late = begin_inside(top, part);
  detach(late);
  end(top);
  note_sent(OpenTable::entry_at(late.traced.begun.ref)->number, late.traced.begun.moment);
  end(late);
  want(top.traced.context.trace_low);
  EXPECT_EQ(kept(), (Spans{{top.id(), kRequest}, {late.id(), kRequest}}));
}

TEST_F(HeldTracesTest, PartThatCameLater_IsHeldAsLong) {
  ask(" slower=1s", "", true);
  run_from_header(7);
  settle();
  now += 5'000'000'000;
  const Spans later = run_from_header(7);
  settle();
  held.expire(captures(), now + 1'500'000'000);
  want(7);
  EXPECT_EQ(kept(), later);
}

TEST_F(HeldTracesTest, WithoutAnAgentThatRelays_NothingMoreIsCaptured) {
  ask(kFast);
  EXPECT_EQ(begin_from_header(7).captures(), 0U);
}

TEST_F(HeldTracesTest, FastTreeThatGaveItsTraceAway_IsHeld) {
  ask(kFast, "", true);
  const Open top = begin(request);
  const Open call = begin(part);
  note_sent(OpenTable::entry_at(call.traced.begun.ref)->number, call.traced.begun.moment);
  end(call);
  end(top);
  EXPECT_EQ(kept(), Spans{});
  want(top.traced.context.trace_low);
  EXPECT_EQ(kept(), (Spans{{top.id(), kRequest}, {call.id(), kRequest}}));
}

TEST_F(HeldTracesTest, PartThatHasGone_IsMissedOnceWanted) {
  ask(" slower=2s", "", true);
  run_from_header(7);
  settle();
  held.expire(captures(), now + 6'999'999'999);
  run_from_header(8);
  settle();
  now += 7'000'000'000;
  held.expire(captures(), now);
  run_from_header(7);
  for (int times = 0; times < 2; ++times) want(7);
  EXPECT_EQ(kept().size(), 2U);
  EXPECT_EQ(missed(Outcome::WaitedTooLong), 2U);
  EXPECT_FALSE(has_more());
}

TEST_F(HeldTracesTest, WithoutRoom_TheOldestGo) {
  ask(kFast, "", true);
  constexpr std::uint64_t kTraces = 20'000;
  for (std::uint64_t trace = 0; trace < kTraces; ++trace) {
    run_from_header(trace);
    settle();
  }
  std::uint64_t first_kept = 0;
  for (; first_kept < kTraces && kept().empty(); ++first_kept) want(first_kept);
  EXPECT_GT(first_kept, kTraces / 5);
  EXPECT_LT(first_kept, kTraces / 5 * 4);
  for (std::uint64_t trace = first_kept; trace < kTraces; ++trace) want(trace);
  EXPECT_EQ(kept().size(), 2 * (kTraces - first_kept));
}

// The ring goes round several times, with gaps at its end.
TEST_F(HeldTracesTest, SpanOfAnySize_IsSentAsItWasOrMissed) {
  ask(kFast, kFast, true);
  constexpr std::uint64_t kSpans = 10'000;
  const std::string text(300, 'x');
  const auto length_of = [](std::uint64_t id) { return id % 4 == 0 ? id * id % 293 : id % 24; };
  std::set<std::uint64_t> found;
  for (std::uint64_t id = 1; id <= kSpans; ++id) {
    hold(held, {.tag = part, .context = {.trace_low = id, .own = id}, .duration_ns = id},
         kRequest | kQuery, text.substr(0, length_of(id)));
    for (const CaptureBits bits : {kRequest, kQuery}) want(id - id % 100, bits);  // again and again
  }
  for (std::uint64_t id = 1; id <= kSpans; ++id) want(id, kRequest | kQuery);
  for (const auto& [span, is_held] : sent) {
    const std::uint64_t id = span.context.own;
    wire::Span described;
    if (span.notes != nullptr) span.notes->fill(described);
    const auto its = described.attributes;
    ASSERT_EQ(its.empty() ? 0 : its[0].text.size(), length_of(id)) << id;
    ASSERT_TRUE(span.tag == part && span.context.trace_low == id && span.duration_ns == id) << id;
    for_each_bit(span.capture_bits(),
                 [&](std::size_t bit) { ASSERT_TRUE(found.insert(id << 8 | bit).second) << id; });
  }
  EXPECT_EQ(found.size() + missed(Outcome::WaitedTooLong), 2 * kSpans);
  EXPECT_TRUE(found.contains(kSpans << 8 | 3) && found.contains((kSpans - 20) << 8 | 5));
}

TEST_F(HeldTracesTest, AtTheEnd_TheNewestAreForTheAgent) {
  ask(kFast, "", true);
  BlackBox box;
  TakenSpans spans{box, 100u << 20};
  HeldTraces much{spans, count};
  const auto want_there = [&](std::uint64_t id) {
    much.want({wire::hash_of_trace(id), kRequest}, captures(), now);
    send(spans);
  };
  for (std::uint64_t id = 1; id <= 10'000; ++id) {
    hold(much, {.tag = part, .context = {.trace_high = 1, .trace_low = id, .own = id}});
    if (id <= 3'000) want_there(id);
  }
  EXPECT_EQ(kept().size(), 3'000U);
  want_there(3'001);
  EXPECT_EQ(kept(), (Spans{{3'001, kRequest}}));
  much.give_to_agent();
  send(spans);
  EXPECT_GT(sent.size(), 3'000U);
  EXPECT_LT(sent.size(), 4'000U);
  for (const Sent& each : sent) EXPECT_TRUE(each.is_held);
  const std::size_t given = sent.size();
  const Spans newest = kept();
  EXPECT_EQ(newest.size(), given);
  EXPECT_EQ(newest.begin()->first, 10'001 - given);
  EXPECT_EQ(newest.rbegin()->first, 10'000U);
  much.give_to_agent();
  send(spans);
  EXPECT_FALSE(has_more());
}

TEST_F(HeldTracesTest, OpenTransactionThatBecomesSlow_IsToldOnceAtOnce) {
  ask(" slower=1ms", "", true);
  const Open top = begin_from_header(7);
  const Open slow = begin(request);
  const std::uint64_t began = now_ns();
  for (const std::uint64_t at : {began - 1'000'000'000, began})
    EXPECT_TRUE(flusher.look_at_open(shared.open_entries(), captures(), at));
  EXPECT_TRUE(news().empty());
  EXPECT_FALSE(flusher.look_at_open(shared.open_entries(), captures(), began + 1'000'000));
  const std::vector<wire::WantedTrace> told{{wire::hash_of_trace(7), kRequest}};
  EXPECT_EQ(news(), told);  // though it has given no headers away
  end(slow);
  end(top);
  EXPECT_EQ(kept().size(), 2U);
  EXPECT_TRUE(news().empty());
}

TEST_F(HeldTracesTest, TransactionInWhichOneFailed_IsKeptWhole) {
  ask(" failed", "", true);
  const Open fast = begin(request);
  run(part);
  end(fast);
  EXPECT_EQ(kept(), Spans{});
  const Open top = begin(request);
  run(part);
  const Open inner = begin(query);
  const Open failed = begin(part);
  end(failed, true);
  flusher.look_at_open(shared.open_entries(), captures(), now);
  EXPECT_EQ(held.wanted(failed.traced.context.trace_low, captures()), kRequest);
  end(inner);
  run(part);
  EXPECT_EQ(kept(), Spans{});
  end(top);
  EXPECT_EQ(kept().size(), 5U);
}

// No trace leaves the process.
TEST_F(HeldTracesTest, RequestOfWhichALaterPartFails_IsKeptWhole) {
  ask(" failed", "", true);
  const Open top = begin(request);
  const Open late = begin_inside(top, request);
  const Open good = begin_inside(top, part);
  detach(late);
  detach(good);
  end(top);
  run(request);  // in the entry of the top
  end(good);
  const Open later = begin_inside(top, part);
  end(later);
  EXPECT_EQ(kept(), Spans{});
  end(late, true);
  EXPECT_EQ(kept().size(), 4U);
}

TEST_F(HeldTracesTest, RequestOfWhichAPartOfAnEndedPartFails_IsKeptWhole) {
  ask(" failed", "", true);
  const Open top = begin(request);
  const Open ended = begin(part);
  const Open late = begin_inside(ended, request);
  detach(late);
  end(ended);
  end(top);
  end(late, true);
  EXPECT_EQ(kept().size(), 3U);
}

TEST_F(HeldTracesTest, PartThatBeginsAfterWhatCameInHasEnded_IsKept) {
  ask(kFast, "", true);
  const Open came_in = begin_from_header(7);
  end(came_in);
  run_inside(came_in, part);
  settle();
  want(7);
  EXPECT_EQ(kept().size(), 2U);
}

// Around one that the filter selects; the trace began there.
TEST_F(HeldTracesTest, TransactionAroundASlowPart_IsKept) {
  ask(kSlow, "", true);
  const Open top{part, recorder.begin_in(part, {{.trace_high = 1, .trace_low = 7}, {}})};
  run(request);
  end(top);
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(HeldTracesTest, TransactionThatHasOneOfTwoReasons_IsFast) {
  ask(" failed wanted", "", true);
  for (const bool is_wanted : {false, true}) {
    const Open top = begin(request);
    const Open inner = begin(query);
    if (is_wanted) recorder.want(inner.transaction());
    end(inner, true);
    end(top);
    EXPECT_EQ(kept().size(), is_wanted ? 2U : 0U);
  }
  ask(" wanted", "", true);
  const Open top = begin(request);
  recorder.want(top.transaction());
  EXPECT_FALSE(flusher.look_at_open(shared.open_entries(), captures(), now));
  EXPECT_NE(held.wanted(top.traced.context.trace_low, captures()), 0U);
  end(top);
  EXPECT_EQ(kept().size(), 1U);
}

// A random program of several threads, which all run here: transactions end in any order and on any
// thread, and begin inside of any open one. A transaction is kept if it, or one around it, is
// selected and slow. Another one may be kept if one of its trace was slow. Durations near the
// border may be either.
TEST_F(SlowTreesTest, KeepsWhatIsInsideOfASlowOneAndNothingOfFastTraces) {
  constexpr std::uint64_t kBorder = 100'000;
  std::mt19937 random(std::random_device{}());
  const auto any_below = [&](std::size_t most) { return random() % most; };
  Recorder third{shared, doorbell, 16};
  threads.push_back(&third);
  ask(" slower=100us limit=1000000/s kind=point");
  struct Node {
    Open open;
    std::size_t parent;  // its own number: none
    std::uint64_t before_begin, after_begin;
    bool can_be_slow = false, must_be_slow = false;
  };
  for (int round = 0; round < 100; ++round) {
    std::vector<Node> nodes;
    std::vector<std::size_t> open_ones;
    const auto end_one = [&] {
      const std::size_t at = any_below(open_ones.size());
      Node& node = nodes[std::exchange(open_ones[at], open_ones.back())];
      open_ones.pop_back();
      if (any_below(8) == 0)
        while (now_ns() < node.after_begin + kBorder + 1'000) continue;
      const std::uint64_t before = now_ns();
      end_on(*threads[any_below(3)], node.open);
      node.can_be_slow = now_ns() - node.before_begin >= kBorder;
      node.must_be_slow = before - node.after_begin >= kBorder;
    };
    for (int i = 0; i < 40; ++i) {
      if (!open_ones.empty() && any_below(2) == 0) {
        end_one();
        continue;
      }
      const std::size_t parent =
          open_ones.empty() ? nodes.size() : open_ones[any_below(open_ones.size())];
      const Tag* const tag = any_below(2) == 0 ? request : part;
      Recorder& thread = *threads[any_below(3)];
      Node node{{}, parent, now_ns(), 0};
      node.open = parent == nodes.size() ? Open{tag, thread.begin_in(tag, {})}
                                         : client::begin_inside(thread, nodes[parent].open, tag);
      node.after_begin = now_ns();
      open_ones.push_back(nodes.size());
      nodes.push_back(node);
      if (any_below(4) == 0) settle();
    }
    while (!open_ones.empty()) end_one();
    const Spans found = kept();
    std::size_t known = 0;
    std::set<std::uint64_t> slow_traces;
    for (const Node& each : nodes)
      if (each.open.tag == request && each.can_be_slow)
        slow_traces.insert(each.open.traced.context.trace_low);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      bool must = false;
      for (std::size_t at = i;; at = nodes[at].parent) {
        must = must || (nodes[at].open.tag == request && nodes[at].must_be_slow);
        if (nodes[at].parent == at) break;
      }
      const bool can = slow_traces.contains(nodes[i].open.traced.context.trace_low);
      const std::uint64_t id = nodes[i].open.id();
      const bool is_kept = id != 0 && found.contains(id);
      EXPECT_TRUE(is_kept ? can : !must) << "round " << round << ", transaction " << i;
      known += is_kept ? 1 : 0;
    }
    EXPECT_EQ(known, found.size());
    EXPECT_FALSE(has_more());
    EXPECT_EQ(waiting(), 0);
  }
}

// Threads end parts of each other's trees while the flusher settles lists.
TEST_F(SlowTreesTest, ThreadsAndFlusherLoseNothing) {
  ask(kFast, kSlow);
  constexpr int kThreads = 4;
  constexpr int kTrees = 2'000;
  struct Part {
    std::atomic<int> state{0};  // 1: to be ended by the next thread; released with the part
    Open open;
  };
  std::array<Part, kThreads> parts;
  std::array<std::set<std::uint64_t>, kThreads> expected;
  std::atomic<int> running{kThreads};
  std::array<std::unique_ptr<Recorder>, kThreads> recorders;
  for (auto& each : recorders) {
    each = std::make_unique<Recorder>(shared, doorbell, 16);
    threads.push_back(each.get());
  }
  std::vector<std::thread> running_threads;
  for (int me = 0; me < kThreads; ++me)
    running_threads.emplace_back([&, me] {
      Recorder& own = *recorders[static_cast<std::size_t>(me)];
      Part& mine = parts[static_cast<std::size_t>(me)];
      Part& next = parts[static_cast<std::size_t>((me + 1) % kThreads)];
      for (int i = 0; i < kTrees; ++i) {
        const Tag* const tag = i % 4 == 0 ? query : request;
        const Open top = begin_on(own, tag);
        const Open inner = begin_on(own, part);
        end_on(own, inner);
        if (mine.state.load(std::memory_order_acquire) == 0) {
          mine.open = client::begin_inside(own, top, part);
          detach_on(own, mine.open);
          if (tag == query) expected[static_cast<std::size_t>(me)].insert(mine.open.id());
          mine.state.store(1, std::memory_order_release);
        }
        if (int full = 1; next.state.compare_exchange_strong(full, 2, std::memory_order_acquire)) {
          end_on(own, next.open);
          next.state.store(0, std::memory_order_release);
        }
        end_on(own, top);
        if (tag == query) expected[static_cast<std::size_t>(me)].insert({top.id(), inner.id()});
      }
      if (int full = 1; mine.state.compare_exchange_strong(full, 2, std::memory_order_acquire))
        end_on(own, mine.open);
      running.fetch_sub(1);
    });
  Spans found;
  while (running.load() > 0) found.merge(kept());
  for (std::thread& thread : running_threads) thread.join();
  found.merge(kept());
  std::set<std::uint64_t> all;
  for (const auto& each : expected) all.insert(each.begin(), each.end());
  std::uint64_t missed = 0;
  for (const std::uint64_t id : all) missed += found.contains(id) ? 0 : 1;
  const CaptureSet& set = captures();
  EXPECT_EQ(missed, set.at(5).missed->full.load());
  for (const auto& [id, bits] : found) EXPECT_TRUE(all.contains(id) && bits == kQuery);
  EXPECT_EQ(waiting(), 0);
}

// No process knows that it will die.
TEST_F(SlowTreesTest, NothingThatAProcessKnowsIsTheReasonDied) {
  ask(" died");
  const Open top = begin(request);
  end(begin(part), true);
  recorder.want(top.transaction());
  end(top, true);
  EXPECT_TRUE(kept().empty());
}

}  // namespace
}  // namespace pcp::trace::client
