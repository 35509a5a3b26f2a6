// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/held_spans.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kSlow = 10'000'000;
constexpr Places kFirst = 1;        // slower=10ms
constexpr Places kSecondPlace = 2;  // slower=1ms
constexpr Places kFew = 4;          // slower=10ms, two spans a second
constexpr Places kQueries = 8;      // tag=query slower=10ms

using Fate = HeldSpans::Fate;

struct HeldSpansTest : testing::Test {
  CaptureSet set{1};
  HeldSpans held;
  HeldSpans::Decisions decisions;
  std::uint64_t now = 1'000 * kSecond;
  const Tag* tag = intern_tag("request");

  HeldSpansTest() {
    add(0, "tag=* slower=10ms limit=1000000/s");
    add(1, "tag=* slower=1ms limit=1000000/s");
    add(2, "tag=* slower=10ms limit=2/s");
    add(3, "tag=query slower=10ms limit=1000000/s");
  }
  void add(std::uint32_t place, const char* filter) {
    set.add({place + 1, place, filter}, *wire::parse_capture_filter(filter), wire::kAnyRate, 0);
  }

  // Ends a span of so many nanoseconds; spans with smaller numbers have begun before it. Requires:
  // `tops` is a part of `places`.
  void end(std::uint64_t own, std::uint64_t parent, std::uint64_t duration_ns, Places places,
           Places tops = 0) {
    CapturedSpan span;
    span.tag = tag;
    span.begin_ns = own;
    span.context.trace_low = ~std::uint64_t{0};
    span.context.own = own;
    span.context.parent = parent;
    span.context.set_places(places);
    span.duration_ns = duration_ns;
    span.slow_tops = tops;
    held.take({span, nullptr}, set, now, decisions);
  }
  void event(std::uint64_t in, Places places) {
    CapturedSpan span;
    span.tag = tag;
    span.begin_ns = in;
    span.context.parent = in;
    span.context.set_places(places);
    span.kind = wire::SpanKind::Point;
    held.take({span, nullptr}, set, now, decisions);
  }

  // The decisions since the last call, by span: the places that keep it, or that do not.
  std::map<std::uint64_t, Places> kept() { return decided(Fate::Kept); }
  std::map<std::uint64_t, Places> decided(Fate fate) {
    std::map<std::uint64_t, Places> found;
    for (const HeldSpans::Decided& each : decisions)
      if (each.fate == fate) found[each.held.span.context.own] |= each.held.span.context.places();
    std::erase_if(decisions, [&](const auto& each) { return each.fate == fate; });
    return found;
  }
};
using Spans = std::map<std::uint64_t, Places>;

TEST_F(HeldSpansTest, KeepsASlowTopWithAllThatIsInsideOfIt) {
  end(3, 2, 1, kFirst);
  event(2, kFirst);
  end(2, 1, 5, kFirst);
  end(4, 1, 5, kFirst);
  EXPECT_TRUE(decisions.empty());
  end(1, 0, kSlow, kFirst, kFirst);
  EXPECT_EQ(decisions.size(), 5U);
  EXPECT_EQ(kept(), (Spans{{0, kFirst}, {1, kFirst}, {2, kFirst}, {3, kFirst}, {4, kFirst}}));
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, DropsAFastOne) {
  end(2, 1, 5, kFirst);
  end(1, 0, kSlow - 1, kFirst, kFirst);
  EXPECT_TRUE(decisions.empty());
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, DecidesForEachFilterByItsOwnTop) {
  end(3, 2, 1, kFirst | kSecondPlace);
  end(2, 1, kSlow / 2, kFirst | kSecondPlace, kSecondPlace);
  EXPECT_EQ(kept(), (Spans{{2, kSecondPlace}, {3, kSecondPlace}}));
  end(1, 0, kSlow, kFirst, kFirst);
  EXPECT_EQ(kept(), (Spans{{1, kFirst}, {2, kFirst}, {3, kFirst}}));
}

TEST_F(HeldSpansTest, WhatComesLateGoesTheSameWay) {
  end(2, 1, 1, kFirst);
  end(1, 0, kSlow, kFirst, kFirst);
  EXPECT_EQ(kept().size(), 2U);
  end(3, 2, 1, kFirst);  // its parent and top have ended already
  event(1, kFirst);
  EXPECT_EQ(kept(), (Spans{{0, kFirst}, {3, kFirst}}));
  end(11, 0, 1, kFirst, kFirst);
  end(12, 11, 1, kFirst);
  EXPECT_TRUE(decisions.empty());
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, ASlowPartThatGoesOnAfterItsFastTopIsATop) {
  end(1, 0, 1, kFirst, kFirst);
  end(3, 2, 1, kFirst);
  event(2, kFirst);
  end(2, 1, kSlow, kFirst);
  EXPECT_EQ(kept(), (Spans{{0, kFirst}, {2, kFirst}, {3, kFirst}}));
  end(4, 2, 1, kFirst);  // late parts go with it
  end(5, 1, kSlow - 1, kFirst);
  EXPECT_EQ(kept(), (Spans{{4, kFirst}}));
  EXPECT_TRUE(decisions.empty());
  EXPECT_TRUE(held.empty());
}

// Its thread's queue is read first.
TEST_F(HeldSpansTest, ASlowPartThatComesBeforeItsOwnPartAndItsFastTopHasThatPart) {
  end(3, 2, kSlow, kFirst);
  end(2, 1, 1, kFirst);
  end(4, 3, 1, kFirst);
  EXPECT_TRUE(decisions.empty());
  end(1, 0, 1, kFirst, kFirst);
  EXPECT_EQ(kept(), (Spans{{3, kFirst}, {4, kFirst}}));
  end(5, 4, 1, kFirst);
  EXPECT_EQ(kept(), (Spans{{5, kFirst}}));
  EXPECT_TRUE(decisions.empty());
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, ASlowPartThatComesBeforeItsFastTopIsATopToo) {
  end(4, 3, 1, kFirst);
  event(3, kFirst);
  end(3, 2, kSlow, kFirst);
  end(5, 2, 1, kFirst);
  end(2, 1, 1, kFirst);
  EXPECT_TRUE(decisions.empty());
  end(1, 0, 1, kFirst, kFirst);
  EXPECT_EQ(kept(), (Spans{{0, kFirst}, {3, kFirst}, {4, kFirst}}));
  EXPECT_TRUE(decisions.empty());
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, ASlowPartOfAnotherTagIsNoTop) {
  tag = intern_tag("query");
  end(1, 0, 1, kQueries, kQueries);
  tag = intern_tag("request");
  end(2, 1, kSlow, kQueries);
  tag = intern_tag("query");
  end(4, 3, kSlow, kQueries);
  tag = intern_tag("request");
  end(3, 1, kSlow, kQueries);
  EXPECT_EQ(kept(), (Spans{{4, kQueries}}));
  EXPECT_TRUE(decisions.empty());
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, SlowPartsOfFastTopsHaveALimit) {
  end(1, 0, 1, kFew, kFew);
  for (std::uint64_t part = 2; part < 22; ++part) end(part, 1, kSlow, kFew);
  const std::size_t over = decided(Fate::OverLimit).size();
  EXPECT_EQ(kept().size() + over, 20U);
  EXPECT_GE(over, 16U);
}

TEST_F(HeldSpansTest, ManyFastOnesDoNotMakeItForgetSlowOnes) {
  end(2, 1, 1, kFirst);
  end(1, 0, kSlow, kFirst, kFirst);
  for (std::uint64_t top = 10; top < 100'000; ++top) end(top, 0, 1, kFirst, kFirst);
  end(3, 1, 1, kFirst);
  EXPECT_EQ(kept().size(), 3U);
}

TEST_F(HeldSpansTest, TheLimitIsForTreesThatAreKept) {
  for (std::uint64_t top = 10; top < 100; top += 10) end(top, 0, 1, kFew, kFew);  // fast
  end(2, 1, 1, kFew);
  end(1, 0, kSlow, kFew, kFew);
  EXPECT_EQ(kept().size(), 2U);
  for (std::uint64_t top = 110; top < 200; top += 10) {
    end(top + 1, top, 1, kFew);
    end(top, 0, kSlow, kFew, kFew);
  }
  const std::size_t over = decided(Fate::OverLimit).size();
  EXPECT_EQ(kept().size() + over, 18U);
  EXPECT_GE(over, 14U);
  EXPECT_EQ(over % 2, 0U);  // whole trees
}

TEST_F(HeldSpansTest, WithoutRoomTheOldestTreesGoAsAWhole) {
  for (std::uint64_t top = 1; top <= 2 * HeldSpans::kMost; ++top, now += 1'000)
    end(top << 20, top, 1, kFirst);
  Spans gone = decided(Fate::WaitedTooLong);
  EXPECT_GE(gone.size(), HeldSpans::kMost);
  EXPECT_TRUE(gone.contains(1 << 20));
  EXPECT_FALSE(gone.contains(std::uint64_t{2} * HeldSpans::kMost << 20));
  const std::uint64_t last = (--gone.end())->first >> 20;
  end(last, 0, kSlow, kFirst, kFirst);  // a part of it is gone
  EXPECT_EQ(decided(Fate::WaitedTooLong), (Spans{{last, kFirst}}));
  end(last + 1, 0, kSlow, kFirst, kFirst);
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(HeldSpansTest, EventsHaveNoMoreRoomThanSpans) {
  for (std::size_t i = 0; i < 3 * HeldSpans::kMost; ++i) event(1, kFirst);
  EXPECT_GE(decisions.size(), 2 * HeldSpans::kMost);
}

TEST_F(HeldSpansTest, AFastOneOfWhichAPartIsGoneIsDropped) {
  end(2, 1, 1, kFirst);
  now += HeldSpans::kPatienceNs + kSecond;
  held.look(now, decisions);
  EXPECT_EQ(decided(Fate::WaitedTooLong), (Spans{{2, kFirst}}));
  end(1, 0, 1, kFirst, kFirst);
  EXPECT_TRUE(decisions.empty());
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, ATopThatLostAPartLongAgoIsGivenUpAsAWhole) {
  end(2, 1, 1, kFirst);
  for (int times = 0; times < 3; ++times) {
    now += HeldSpans::kPatienceNs + kSecond;
    end(3, 4, 1, kSecondPlace);
    held.look(now, decisions);
  }
  decisions.clear();
  end(5, 1, 1, kFirst);
  end(1, 0, kSlow, kFirst, kFirst);
  EXPECT_EQ(decided(Fate::WaitedTooLong), (Spans{{1, kFirst}, {5, kFirst}}));
  EXPECT_TRUE(decisions.empty());
}

TEST_F(HeldSpansTest, WhatEndsFromTheOutsideInGoesAsDeepAsItIs) {
  constexpr std::uint64_t kDepth = 4'000;
  end(1, 0, kSlow, kFirst, kFirst);
  for (std::uint64_t inner = 2; inner <= kDepth; ++inner) end(inner, inner - 1, 1, kFirst);
  EXPECT_EQ(kept().size(), kDepth);
  EXPECT_TRUE(held.empty());
}

template <typename Work>
std::int64_t work_ns(Work work) {
  const auto now_ns = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const std::int64_t before_ns = now_ns();
  work();
  return now_ns() - before_ns;
}

// It would be tens of times as much work if each level took a step for each level inside of it or,
// for late parts, around it. Other work on the machine hardly changes the least of three times.
TEST_F(HeldSpansTest, ADeepTreeIsNotMuchMoreWorkThanAFlatOne) {
  constexpr std::uint64_t kParts = 12'000;
  constexpr std::uint64_t kLate = 4'000;
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 2> parts_ns{kMost, kMost};
  std::array<std::int64_t, 2> late_ns{kMost, kMost};
  for (const bool is_deep : {false, true, false, true, false, true}) {
    held = {};
    const auto part = work_ns([&] {
      for (std::uint64_t i = kParts; i > 0; --i) end(1 + i, is_deep ? i : 1, 1, kFirst);
    });
    const auto late = work_ns([&] {
      for (std::uint64_t i = kLate; i > 0; --i) event(1 + i, kFirst);
    });
    parts_ns[is_deep] = std::min(parts_ns[is_deep], part);
    late_ns[is_deep] = std::min(late_ns[is_deep], late);
    end(1, 0, 1, kFirst, kFirst);
    EXPECT_TRUE(held.empty());
  }
  EXPECT_LT(parts_ns[true], 10 * parts_ns[false]);
  EXPECT_LT(late_ns[true], 10 * late_ns[false]);
  EXPECT_TRUE(decisions.empty());
}

TEST_F(HeldSpansTest, WhatComesLateIsDecidedByTheInnermostTopOfEachFilter) {
  end(2, 1, kSlow / 2, kFirst | kSecondPlace, kSecondPlace);
  end(1, 0, kSlow / 2, kFirst, kFirst);  // fast for its own filter
  decisions.clear();
  end(3, 2, 1, kFirst | kSecondPlace);
  EXPECT_EQ(kept(), (Spans{{3, kSecondPlace}}));
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, AbsurdIdsDoNotGoRoundForEver) {
  end(2, 1, 1, kFirst);
  end(3, 2, 1, kFirst);
  end(1, 3, 1, kFirst);
  event(4, kFirst);
  end(4, 1, 1, kFirst);
}

TEST_F(HeldSpansTest, ForgetsWhatNobodyAsksForAnyMore) {
  end(2, 1, 1, kFirst | kSecondPlace);
  held.keep_only(kSecondPlace);
  end(1, 0, kSlow, kSecondPlace, kSecondPlace);
  EXPECT_EQ(kept(), (Spans{{1, kSecondPlace}, {2, kSecondPlace}}));
  end(4, 3, 1, kFirst);
  held.keep_only(0);
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldSpansTest, GivesUpAllAtTheEnd) {
  end(2, 1, 1, kFirst);
  end(4, 3, 1, kSecondPlace);
  held.give_up(decisions);
  EXPECT_EQ(decided(Fate::WaitedTooLong), (Spans{{2, kFirst}, {4, kSecondPlace}}));
  EXPECT_TRUE(held.empty());
}

}  // namespace
}  // namespace pcp::trace::client
