// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/ended_inside.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "record/recorder.hpp"

namespace pcp::trace::client {
namespace {

constexpr Places kRequest = 1 << 3;
constexpr Places kQuery = 1 << 5;
const std::string kFast = " slower=3600s limit=1000000/s";  // everything is faster
const std::string kSlow = " slower=1ns limit=1000000/s";

struct EndedInsideTest : testing::Test {
  RecordQueue queue{0};
  Doorbell doorbell;
  Recorder recorder{queue, doorbell, 16};
  // Tags of this test only: a tag remembers that its transactions do not nest.
  const Tag* const request = of_this_test("request ");
  const Tag* const query = of_this_test("query ");
  const Tag* const part = of_this_test("part ");
  const int state_before = replace_state(PMTRACE_STATE_NONE);

  ~EndedInsideTest() override {
    queue.captures().publish(nullptr, {});
    replace_state(state_before);
  }

  static const Tag* of_this_test(const char* name) {
    return intern_tag(name +
                      std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  }

  void ask(const std::string& of_requests, const std::string& of_queries = "") {
    auto set = std::make_unique<CaptureSet>(1);
    add(*set, 3, "tag=request*" + of_requests);
    if (!of_queries.empty()) add(*set, 5, "tag=query*" + of_queries);
    queue.captures().publish(std::move(set), {});
  }
  static void add(CaptureSet& set, std::uint32_t place, const std::string& text) {
    set.add({place, place, text}, *wire::parse_capture_filter(text), wire::kAnyRate, 0);
  }
  std::uint64_t missed() { return queue.captures().published()->at(3).missed_full; }

  Recorder::Traced begin(const Tag* tag) { return recorder.begin_traced(tag); }
  static ThreadTrace::Open open(const Tag* tag, const Recorder::Traced& traced) {
    return {tag, traced.begun.place, traced.begun.moment};
  }
  static ThreadTrace::Inside inside(const Recorder::Traced& traced) {
    return {traced.context.inside(), traced.begun.place, traced.begun.moment};
  }
  void end(const Tag* tag, const Recorder::Traced& traced) { end_on(recorder, tag, traced); }
  static void end_on(Recorder& thread, const Tag* tag, const Recorder::Traced& traced) {
    thread.end_traced(open(tag, traced), traced.context, false);
  }
  void end_some_inside(int count) {
    for (int i = 0; i < count; ++i) end(part, begin(part));
  }

  // The spans in the queue, in order: for each one the filters that capture it.
  std::vector<Places> queued() {
    std::vector<Places> places;
    CapturedSpan span;
    while (queue.spans().take(span)) places.push_back(span.context.places());
    return places;
  }
  using Queued = std::vector<Places>;
};

TEST_F(EndedInsideTest, OfFastTreesNobodyHears) {
  ask(kFast + " kind=point");
  for (int i = 0; i < 4'000; ++i) {  // trees of five each: more than the queue has room for
    const auto top = begin(request);
    const auto inner = begin(query);
    end_some_inside(2);
    recorder.capture_event(part, wire::SpanKind::Point, 0);
    end(query, inner);
    EXPECT_FALSE(recorder.ended_inside().empty());
    end(request, top);
    ASSERT_TRUE(recorder.ended_inside().empty());
  }
  EXPECT_EQ(queued(), Queued{});
  EXPECT_EQ(missed(), 0U);
}

TEST_F(EndedInsideTest, OfASlowOneAllIsQueuedTheTopLast) {
  ask(kSlow + " kind=point");
  const auto top = begin(request);
  const auto inner = begin(query);
  end_some_inside(2);
  recorder.capture_event(part, wire::SpanKind::Point, 0);
  end(query, inner);
  EXPECT_EQ(queued(), Queued{});
  end(request, top);
  EXPECT_EQ(queued(), Queued(5, kRequest));
}

TEST_F(EndedInsideTest, EachFilterHasItsOwnTops) {
  ask(kSlow, kFast);
  const auto top = begin(request);
  const auto inner = begin(query);
  end_some_inside(1);
  end(query, inner);
  end(request, top);
  EXPECT_EQ(queued(), Queued(3, kRequest));

  ask(kFast, kSlow);
  const auto another = begin(request);
  const auto slow = begin(query);
  end_some_inside(1);
  end(query, slow);
  EXPECT_EQ(queued(), Queued(2, kRequest | kQuery));
  end(request, another);  // the flusher has parts of it
  EXPECT_EQ(queued(), Queued(1, kRequest));
}

TEST_F(EndedInsideTest, WhatSomebodyWantsInAnyCaseDoesNotWait) {
  ask(kFast, " limit=1000000/s");
  const auto top = begin(request);
  end(query, begin(query));
  EXPECT_EQ(queued(), Queued{kRequest | kQuery});
  end(request, top);
  EXPECT_EQ(queued(), Queued{kRequest});
}

TEST_F(EndedInsideTest, RequestsThatOverlapTakeNothingOfEachOther) {
  ask(kFast);
  const auto one = begin(request);
  recorder.trace().detach(open(request, one));
  const auto other = begin(request);
  recorder.trace().detach(open(request, other));
  for (const auto* const around : {&one, &other, &one})
    end(part, recorder.begin_in(part, inside(*around)));
  end(request, other);
  int left = 0;
  recorder.ended_inside().take([&](const CapturedSpan& span) {
    EXPECT_EQ(span.context.parent, one.context.own);
    ++left;
  });
  EXPECT_EQ(left, 2);
  end(request, one);  // parts of it are gone
  EXPECT_EQ(queued(), Queued{kRequest});
}

TEST_F(EndedInsideTest, ATopIsToldOfWhichAPartIsStillOpen) {
  ask(kFast);
  const auto top = begin(request);
  end_some_inside(1);
  const auto late = begin(part);
  end(request, top);
  EXPECT_EQ(queued(), Queued(2, kRequest));
  end(part, late);
  EXPECT_EQ(queued(), Queued{kRequest});
}

TEST_F(EndedInsideTest, ATopIsToldOfWhichPartsWereTakenMeanwhile) {
  ask(kFast);
  const auto top = begin(request);
  const auto inner = begin(query);
  end_some_inside(3);
  int taken = 0;
  recorder.ended_inside().take([&](const CapturedSpan&) { ++taken; });
  EXPECT_EQ(taken, 3);
  end(query, inner);
  end(request, top);
  EXPECT_EQ(queued(), Queued(2, kRequest));
  const auto next = begin(request);
  end_some_inside(3);
  end(request, next);
  EXPECT_EQ(queued(), Queued{});
}

TEST_F(EndedInsideTest, ALargeTreeIsQueued) {
  ask(kFast);
  const auto top = begin(request);
  end_some_inside(EndedInside::kMost);
  EXPECT_EQ(queued(), Queued{});
  end_some_inside(1);
  EXPECT_EQ(queued(), Queued(EndedInside::kMost + 1, kRequest));
  end(request, top);
  EXPECT_EQ(queued(), Queued{kRequest});
}

TEST_F(EndedInsideTest, ATreeOfTwoThreadsIsQueued) {
  ask(kFast);
  Recorder another{queue, doorbell, 16};
  const auto top = begin(request);
  const auto there = another.begin_in(query, inside(top));
  end_on(another, part, another.begin_traced(part));
  EXPECT_EQ(queued(), Queued{});
  end_on(another, query, there);
  EXPECT_EQ(queued(), Queued(2, kRequest));
  end(request, top);
  EXPECT_EQ(queued(), Queued{kRequest});

  const auto ended_there = begin(request);
  end_some_inside(1);
  end_on(another, request, ended_there);
  EXPECT_EQ(queued(), Queued{kRequest});
  EXPECT_FALSE(recorder.ended_inside().empty());  // the flusher takes it from there
}

TEST_F(EndedInsideTest, WhatBeginsAfterAFastTopIsLeftOut) {
  ask(kFast);
  const auto top = begin(request);
  end_some_inside(1);
  end(request, top);
  const auto late = recorder.begin_in(part, inside(top));
  EXPECT_EQ(late.context.places(), 0U);
  end_some_inside(1);
  end(part, late);
  EXPECT_TRUE(recorder.ended_inside().empty());
  EXPECT_EQ(queued(), Queued{});
}

TEST_F(EndedInsideTest, WhatBeginsInAPartThatHasEndedIsAPartToo) {
  for (const std::string& filter : {kFast, kSlow}) {
    ask(filter);
    const auto top = begin(request);
    const auto inner = begin(query);
    end(query, inner);
    const auto late = recorder.begin_in(part, inside(inner));
    EXPECT_EQ(late.context.parent, inner.context.own);
    end(part, late);
    end(request, top);
    EXPECT_EQ(queued(), Queued(filter == kSlow ? 3 : 0, kRequest));
  }
  ask(kFast);
  const auto top = begin(request);
  const auto inner = begin(query);
  end(query, inner);
  const auto later = recorder.begin_in(part, inside(inner));
  end(request, top);  // a part of it is still open
  EXPECT_EQ(queued(), Queued(2, kRequest));
  end(part, later);
  EXPECT_EQ(queued(), Queued{kRequest});
}

TEST_F(EndedInsideTest, NoPartOfWhatWasLeftOutIsATop) {
  ask(" limit=1000000/s");
  while (!queue.spans().is_half_full()) end(request, begin(request));
  const auto left_out = begin(request);
  EXPECT_EQ(left_out.context.places(), 0U);
  EXPECT_EQ(missed(), 1U);
  queued();
  const auto inner = begin(request);
  EXPECT_EQ(inner.context.places(), 0U);
  EXPECT_EQ(missed(), 2U);
  end(request, inner);
  end(request, left_out);
  end(request, begin(request));
  EXPECT_EQ(queued(), Queued{kRequest});
  EXPECT_EQ(missed(), 2U);
}

}  // namespace
}  // namespace pcp::trace::client
