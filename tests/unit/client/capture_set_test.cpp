// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/capture_set.hpp"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "capturing.hpp"
#include "spans/span_notes.hpp"

namespace pcp::trace::client {
namespace {

struct CapturesTest : Capturing {
  // Publishes the filter for requests, and perhaps the one for queries.
  void ask(bool query_too, const std::string& words = "") {
    auto set = next_set();
    add_filter(*set, {7, 3, "tag=request*" + words}, request_since);
    if (request_since == 0) request_since = set->epoch();
    if (query_too) add_filter(*set, {8, 5, "tag=query*"});
    shared.captures().publish(std::move(set));
  }
  std::unique_ptr<CaptureSet> next_set() { return std::make_unique<CaptureSet>(++control); }
  std::vector<CapturedSpan> take() {
    std::vector<CapturedSpan> taken;
    SpanPool& pool = shared.spans();
    while (const SpanPool::Index list = pool.next_list()) {
      pool.remove_list();
      pool.flushers_share().filter(list, [&](CapturedSpan& span) {
        taken.push_back(std::move(span));
        return false;
      });
    }
    return taken;
  }
  std::uint64_t over_limit(std::size_t bit = 3) { return captures().at(bit).missed->limit; }

  std::uint64_t control = 0;
  CaptureSet::Epoch request_since = 0;
};

TEST_F(CapturesTest, AreNoneUnlessAsked) {
  EXPECT_FALSE(has_state(kCapturing));
  EXPECT_TRUE(recorder.is_plain(request));
  const Open plain = begin(request);
  EXPECT_EQ(plain.traced.begun.ref & OpenTable::kMarks, 0U);
  end(plain);
  EXPECT_TRUE(take().empty());
  ask(false);
  EXPECT_TRUE(has_state(kCapturing));
  shared.captures().publish(nullptr);
  EXPECT_FALSE(has_state(kCapturing));
}

TEST_F(CapturesTest, LeaveOutWhatNobodyAsksFor) {
  ask(false);
  EXPECT_FALSE(recorder.is_plain(query));  // not known yet
  run(query);
  EXPECT_TRUE(recorder.is_plain(query));
  EXPECT_FALSE(recorder.is_plain(request));
  EXPECT_TRUE(take().empty());
  ask(true);
  EXPECT_FALSE(recorder.is_plain(query));
}

TEST_F(CapturesTest, HaveWhatIsInsideWithIt) {
  ask(true);
  const Open outer = begin(request);
  const Open inner = begin(query);
  end(begin(part), true);
  end(inner);
  end(outer);
  end(outer);  // a second end does nothing
  const auto spans = take();
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].context.capture_bits(), kRequest | kQuery);
  EXPECT_EQ(spans[1].context.capture_bits(), kRequest | kQuery);
  EXPECT_EQ(spans[2].context.capture_bits(), kRequest);
  EXPECT_TRUE(spans[0].aborted);
  EXPECT_EQ(spans[0].context.parent, spans[1].context.own);
  EXPECT_EQ(spans[1].context.parent, spans[2].context.own);
  EXPECT_EQ(spans[2].context.parent, 0U);
  EXPECT_TRUE(recorder.trace().is_plain());
  EXPECT_FALSE(recorder.open().has_open());
}

TEST_F(CapturesTest, TellWhichThreadBeganThem) {
  ask(false);
  recorder.note_thread();
  const Open begun = begin(request);
  std::unique_ptr<Recorder> others;
  std::thread([&] {
    others = std::make_unique<Recorder>(shared, doorbell, 16);
    others->note_thread();
    end_on(*others, begun);
  }).join();
  const auto spans = take();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].tid, static_cast<std::uint32_t>(::gettid()));
}

TEST_F(CapturesTest, OfAnEarlierSetAreOfThoseFiltersThatAreStillThere) {
  ask(true);
  const Open outer = begin(request);
  const Open inner = begin(query);
  ask(false);
  auto set = next_set();  // another filter with the queries' bit
  add_filter(*set, {7, 3, "tag=request*"}, request_since);
  add_filter(*set, {9, 5, "tag=other"});
  const CaptureSet::Epoch epoch = set->epoch();
  shared.captures().publish(std::move(set));
  run(part);
  end(inner);
  shared.captures().publish(nullptr);
  end(outer);
  const auto spans = take();
  ASSERT_EQ(spans.size(), 2U);
  for (const CapturedSpan& span : spans) {
    EXPECT_EQ(span.context.capture_bits(), kRequest);
    EXPECT_EQ(span.epoch, epoch);
  }
}

TEST_F(CapturesTest, OfAShareHaveOneTraceForAllThatIsInside) {
  ask(false, ",part* share=50%");
  int captured = 0;
  for (int i = 0; i < 200; ++i) {
    const Open outer = begin(request);
    const Open inner = begin(part);  // would be a top by itself
    EXPECT_TRUE(outer.traced.context.is_trace());
    EXPECT_EQ(inner.traced.context.trace_low, outer.traced.context.trace_low);
    EXPECT_EQ(inner.captures(), outer.captures());
    captured += outer.captures() != 0;
    end(inner);
    end(outer);
  }
  EXPECT_GT(captured, 60);
  EXPECT_LT(captured, 140);
  EXPECT_EQ(take().size(), 2U * static_cast<std::size_t>(captured));
}

TEST_F(CapturesTest, LoseWholeTreesFirstWhereThereIsNoRoom) {
  ask(false, " limit=1000000/s");
  const Open outer = begin(request);
  std::uint32_t put = 0;
  for (; !shared.spans().is_half_full(); ++put) run(request);
  const Open another = begin(request);
  EXPECT_NE(another.captures(), 0U);  // it is inside the first one
  end(another);
  detach(outer);
  const Open tree = begin(request);
  EXPECT_EQ(tree.captures(), 0U);
  const Open missed = begin(query);  // no filter names it, but it is missed, too
  EXPECT_EQ(missed.captures(), 0U);
  end(missed);
  end(tree);
  const CaptureSet::Capture& asked = captures().at(3);
  EXPECT_EQ(asked.missed->full, 2U);
  EXPECT_EQ(asked.missed->limit, 0U);
  for (; shared.spans().taken() < SpanPool::kMost; ++put) run_inside(outer, request);
  EXPECT_EQ(asked.missed->full, 2U);
  end(outer);
  EXPECT_EQ(asked.missed->full, 3U);
  EXPECT_EQ(take().size(), put + 1);
}

TEST_F(CapturesTest, LeaveOutAllThatIsEverInsideOfWhatIsOverALimit) {
  ask(false, ",part* kind=point limit=1/s");
  Open over = begin(request);
  for (; over.captures() != 0; over = begin(request)) end(over);
  const Open others = begin(intern_tag("of no filter"));
  take();
  ask(true, ",part* kind=point limit=1000000/s");  // this filter would take all again
  const Open by_stack = begin(part);
  EXPECT_EQ(by_stack.captures(), 0U);
  const Open innermost = begin(part);
  EXPECT_EQ(innermost.captures(), 0U);
  recorder.capture_event(part, wire::SpanKind::Point, 0);
  end(innermost);
  end(by_stack);
  const auto expect_left_out_inside = [this](const Open& around) {
    const Open told = begin_inside(around, part);
    EXPECT_EQ(told.captures(), 0U);
    end(told);
  };
  for (const Open& around : {others, by_stack, innermost}) expect_left_out_inside(around);
  const Open wanted_by_another = begin(query);
  EXPECT_EQ(wanted_by_another.captures(), kQuery);
  end(wanted_by_another);
  end(others);
  end(over);
  expect_left_out_inside(over);
  EXPECT_EQ(over_limit(), 8U);
  EXPECT_EQ(take().size(), 1U);
  run(request);
  EXPECT_EQ(take().size(), 1U);
}

// It has ended, and another one has its entry.
TEST_F(CapturesTest, LoseNothingByTheLimitOfAnother) {
  ask(true, " limit=1/s");
  const auto end_one_over_the_limit = [this] {
    for (;;) {
      const Open one = begin(request);
      end(one);
      if (one.captures() == 0) return one;
    }
  };
  const Open over = end_one_over_the_limit();
  end_one_over_the_limit();
  const std::uint64_t missed = over_limit();
  const Open late = begin_inside(over, query);
  EXPECT_EQ(late.captures(), kQuery);
  end(late);
  EXPECT_EQ(over_limit(), missed + 1);
  EXPECT_EQ(over_limit(5), 0U);
}

// Also those that the filter alone would not take.
TEST_F(CapturesTest, AreEachTakenOrMissedBeyondALimit) {
  ask(false, " kind=point limit=10/s");
  for (int i = 0; i < 100; ++i) {
    const Open top = begin(request);
    const Open inner = begin(query);
    const Open innermost = begin(part);
    recorder.capture_event(query, wire::SpanKind::Point, 0);
    for (const Open& each : {innermost, inner, top}) end(each);
  }
  const std::uint64_t taken = take().size();
  EXPECT_LT(taken, 400U);
  EXPECT_EQ(taken + over_limit(), 400U);
}

TEST_F(CapturesTest, AreRetiredWhenWhoLookedHasLookedAway) {
  auto& captures = shared.captures();
  CaptureReads reads{0};
  CaptureReads never{0};
  const auto retire = [&] {
    captures.note_readers([&](auto note) {
      note(reads);
      note(never);
    });
    captures.retire();
  };
  ask(false);
  {
    const PublishedCaptures::Reader reader(captures, reads);
    ask(true);
    EXPECT_EQ(reader->control(), 1U);
    retire();
    EXPECT_EQ(captures.unretired(), 1U);
  }
  const PublishedCaptures::Reader another(captures, reads);  // at the next set
  retire();
  EXPECT_EQ(captures.unretired(), 0U);
}

// The flusher does not know yet that this thread may read.
TEST_F(CapturesTest, AreTheNewOnesForAThreadThatJoinsAsTheyAreReplaced) {
  auto& captures = shared.captures();
  CaptureReads reads{0};
  std::optional<PublishedCaptures::Reader> reader;
  ask(false);
  ask(true);
  captures.note_readers([&](auto) { reader.emplace(captures, reads); });
  captures.retire();
  EXPECT_EQ((*reader)->control(), 2U);
}

TEST_F(CapturesTest, HaveTheirNotesUntilTheyEnd) {
  ask(false);
  const Open open = begin(request);
  const Begun& begun = open.traced.begun;
  const std::uint32_t number = OpenTable::entry_at(begun.ref)->number;
  auto made = take_or_make_notes(number, begun.moment);
  SpanNotes* const notes = made.get();
  ASSERT_NE(notes, nullptr);
  notes->add("route", "/cart", {});
  notes->add("rows", {}, 7);
  put_back_notes(number, std::move(made));
  made = take_or_make_notes(number, begun.moment);
  EXPECT_EQ(made.get(), notes);
  EXPECT_EQ(take_notes(number, begun.moment), nullptr);  // so no end deletes them
  notes->add("route", "/pay", {});
  notes->set_wanted();
  put_back_notes(number, std::move(made));
  end(open);
  const auto spans = take();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].notes.get(), notes);
  EXPECT_NE(spans[0].context.flags() & kWantedFlag, 0U);
  wire::Span span;
  notes->fill(span);
  ASSERT_EQ(span.attributes.size(), 2U);
  EXPECT_EQ(span.attributes[0].text, "/pay");
  EXPECT_EQ(span.attributes[1].number, 7);
  EXPECT_EQ(take_notes(number, begun.moment), nullptr);
}

TEST(Notes, GiveBackTheRoomOfWhatIsReplaced) {
  SpanNotes notes(1);
  const std::string large(4096, 'x');
  for (int i = 0; i < 10'000; ++i) notes.add("same", large, {});
  for (int i = 0; i < 10'000; ++i) notes.set_reason(large);
  notes.add("other", "text", {});
  wire::Span span;
  notes.fill(span);
  EXPECT_EQ(span.left_out, 0U);
}

TEST(Notes, HaveRoomTogether) {
  SpanNotes first(1);
  wire::Span span;
  const std::string large(4096, 'x');
  for (int i = 0; i < 32; ++i) first.add(std::to_string(i), large, {});
  std::vector<std::unique_ptr<SpanNotes>> others;
  for (std::size_t bytes = 0; bytes < SpanNotes::kMostBytes; bytes += 32 * large.size()) {
    others.push_back(std::make_unique<SpanNotes>(2));
    for (int i = 0; i < 32; ++i) others.back()->add(std::to_string(i), large, {});
  }
  others.back()->fill(span);
  EXPECT_GT(span.left_out, 0U);
  const std::uint32_t before = span.left_out;
  others.front().reset();
  others.back()->add("one more", large, {});
  others.back()->fill(span);
  EXPECT_EQ(span.left_out, before);
}

}  // namespace
}  // namespace pcp::trace::client
