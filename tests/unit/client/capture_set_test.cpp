// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/capture_set.hpp"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "spans/span_notes.hpp"
#include "thread/recorder.hpp"

namespace pcp::trace::client {
namespace {

wire::CaptureFilter filter(const std::string& text) { return *wire::parse_capture_filter(text); }

std::unique_ptr<CaptureSet> set_of(std::uint64_t control) {
  return std::make_unique<CaptureSet>(control);
}

// A recorder, and the filters for which it captures.
struct CapturesTest : testing::Test {
  SharedParts shared;
  Doorbell doorbell;
  Recorder recorder{shared, doorbell, 16};
  const Tag* const request = intern_tag("request");
  const Tag* const query = intern_tag("query");
  CaptureSet::Epoch request_since = 0;

  ~CapturesTest() override {
    shared.captures().publish(nullptr);
    replace_state(state_before);
  }

  // Publishes a filter for request with bit 3, and perhaps one for query with bit 5.
  void ask(bool query_too, const std::string& words = "") {
    auto set = set_of(++control);
    set->add({7, 3}, filter("tag=request" + words), wire::kAnyRate, request_since);
    if (request_since == 0) request_since = set->epoch();
    if (query_too) set->add({8, 5}, filter("tag=query"), wire::kAnyRate, 0);
    shared.captures().publish(std::move(set));
  }
  Traced begin(const Tag* tag) { return recorder.begin_traced(tag); }
  void end(const Tag* tag, const Traced& traced, bool aborted = false) {
    recorder.end_traced({tag, traced.begun}, traced.context, aborted);
  }
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

  std::uint64_t control = 0;
  const int state_before = replace_state(PMTRACE_STATE_NONE);
};

constexpr CaptureBits kRequest = 1 << 3;
constexpr CaptureBits kQuery = 1 << 5;

TEST_F(CapturesTest, AreNoneUnlessAsked) {
  EXPECT_FALSE(has_state(kCapturing));
  EXPECT_TRUE(recorder.is_plain(request));
  const auto traced = begin(request);
  EXPECT_EQ(traced.begun.ref & OpenTable::kMarks, 0U);
  end(request, traced);
  EXPECT_TRUE(take().empty());
  ask(false);
  EXPECT_TRUE(has_state(kCapturing));
  shared.captures().publish(nullptr);
  EXPECT_FALSE(has_state(kCapturing));
}

TEST_F(CapturesTest, LeaveOutWhatNobodyAsksFor) {
  ask(false);
  EXPECT_FALSE(recorder.is_plain(query));  // not known yet
  end(query, begin(query));
  EXPECT_TRUE(recorder.is_plain(query));
  EXPECT_FALSE(recorder.is_plain(request));
  EXPECT_TRUE(take().empty());
  ask(true);
  EXPECT_FALSE(recorder.is_plain(query));
}

TEST_F(CapturesTest, HaveWhatIsInsideWithIt) {
  ask(true);
  const auto outer = begin(request);
  const auto inner = begin(query);
  const auto innermost = begin(intern_tag("part"));
  end(query, innermost, true);
  end(query, inner);
  end(request, outer);
  end(request, outer);  // a second end does nothing
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
  const auto traced = begin(request);
  std::unique_ptr<Recorder> others;
  std::thread([&] {
    others = std::make_unique<Recorder>(shared, doorbell, 16);
    others->note_thread();
    others->end_traced({request, traced.begun}, traced.context, false);
  }).join();
  const auto spans = take();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].tid, static_cast<std::uint32_t>(::gettid()));
}

TEST_F(CapturesTest, OfAnEarlierSetAreOfThoseFiltersThatAreStillThere) {
  ask(true);
  const auto outer = begin(request);
  const auto inner = begin(query);
  ask(false);
  auto set = set_of(++control);  // another filter with query's bit
  set->add({7, 3}, filter("tag=request"), wire::kAnyRate, request_since);
  set->add({9, 5}, filter("tag=other"), wire::kAnyRate, 0);
  const CaptureSet::Epoch epoch = set->epoch();
  shared.captures().publish(std::move(set));
  const auto later = begin(intern_tag("part"));
  end(query, later);
  end(query, inner);
  shared.captures().publish(nullptr);
  end(request, outer);
  const auto spans = take();
  ASSERT_EQ(spans.size(), 2U);
  for (const CapturedSpan& span : spans) {
    EXPECT_EQ(span.context.capture_bits(), kRequest);
    EXPECT_EQ(span.epoch, epoch);
  }
}

TEST_F(CapturesTest, OfAShareHaveOneTraceForAllThatIsInside) {
  ask(false, ",part share=50%");
  int captured = 0;
  for (int i = 0; i < 200; ++i) {
    const auto outer = begin(request);
    const auto inner = begin(intern_tag("part"));  // would be a top by itself
    EXPECT_TRUE(outer.context.is_trace());
    EXPECT_EQ(inner.context.trace_low, outer.context.trace_low);
    EXPECT_EQ(inner.context.capture_bits(), outer.context.capture_bits());
    captured += outer.context.capture_bits() != 0;
    end(query, inner);
    end(request, outer);
  }
  EXPECT_GT(captured, 60);
  EXPECT_LT(captured, 140);
  EXPECT_EQ(take().size(), 2U * static_cast<std::size_t>(captured));
}

TEST_F(CapturesTest, LoseWholeTreesFirstWhereThereIsNoRoom) {
  ask(false, " limit=1000000/s");
  const auto outer = begin(request);
  std::uint32_t put = 0;
  while (!shared.spans().is_half_full()) {
    end(request, begin(request));
    ++put;
  }
  const auto another = begin(request);
  EXPECT_NE(another.context.capture_bits(), 0U);  // it is inside the first one
  end(request, another);
  recorder.trace().detach({request, outer.begun});
  const auto tree = begin(request);
  EXPECT_EQ(tree.context.capture_bits(), 0U);
  const auto part = begin(query);  // no filter names it, but it is missed, too
  EXPECT_EQ(part.context.capture_bits(), 0U);
  end(query, part);
  end(request, tree);
  const CaptureSet::Capture& asked = shared.captures().published()->at(3);
  EXPECT_EQ(asked.missed_full, 2U);
  EXPECT_EQ(asked.missed_limit, 0U);
  while (shared.spans().taken() < SpanPool::kMost) {
    end(request, recorder.begin_in(request, {outer.context.inside(), outer.begun}));
    ++put;
  }
  EXPECT_EQ(asked.missed_full, 2U);
  end(request, outer);
  EXPECT_EQ(asked.missed_full, 3U);
  EXPECT_EQ(take().size(), put + 1);
}

TEST_F(CapturesTest, LeaveOutAllThatIsEverInsideOfWhatIsOverALimit) {
  const Tag* const part = intern_tag("part");
  ask(false, ",part kind=point limit=1/s");
  Traced over = begin(request);
  for (; over.context.capture_bits() != 0; over = begin(request)) end(request, over);
  const auto inside = [](const Traced& traced) {
    return ThreadTrace::Parent{traced.context.inside(), traced.begun};
  };
  const auto others = begin(intern_tag("of no filter"));
  take();
  ask(true, ",part kind=point limit=1000000/s");  // this filter would take all again
  const auto by_stack = begin(part);
  EXPECT_EQ(by_stack.context.capture_bits(), 0U);
  const auto innermost = begin(part);
  EXPECT_EQ(innermost.context.capture_bits(), 0U);
  recorder.capture_event(part, wire::SpanKind::Point, 0);
  end(part, innermost);
  end(part, by_stack);
  for (const auto* const around : {&others, &by_stack, &innermost}) {
    const auto told = recorder.begin_in(part, inside(*around));
    EXPECT_EQ(told.context.capture_bits(), 0U);
    end(part, told);
  }
  const auto wanted_by_another = begin(query);
  EXPECT_EQ(wanted_by_another.context.capture_bits(), kQuery);
  end(query, wanted_by_another);
  end(request, others);
  end(request, over);
  const auto after = recorder.begin_in(part, inside(over));
  EXPECT_EQ(after.context.capture_bits(), 0U);
  end(part, after);
  EXPECT_EQ(shared.captures().published()->at(3).missed_limit, 8U);
  EXPECT_EQ(take().size(), 1U);
  end(request, begin(request));
  EXPECT_EQ(take().size(), 1U);
}

// It has ended, and another one has its entry.
TEST_F(CapturesTest, LoseNothingByTheLimitOfAnother) {
  ask(true, " limit=1/s");
  const auto end_one_over_the_limit = [this] {
    for (;;) {
      const auto traced = begin(request);
      end(request, traced);
      if (traced.context.capture_bits() == 0) return traced;
    }
  };
  const auto over = end_one_over_the_limit();
  end_one_over_the_limit();
  const CaptureSet& set = *shared.captures().published();
  const std::uint64_t missed = set.at(3).missed_limit;
  const auto late = recorder.begin_in(query, {over.context.inside(), over.begun});
  EXPECT_EQ(late.context.capture_bits(), kQuery);
  end(query, late);
  EXPECT_EQ(set.at(3).missed_limit, missed + 1);
  EXPECT_EQ(set.at(5).missed_limit, 0U);
}

// Also those that the filter alone would not take.
TEST_F(CapturesTest, AreEachTakenOrMissedBeyondALimit) {
  ask(false, " kind=point limit=10/s");
  for (int i = 0; i < 100; ++i) {
    const auto top = begin(request);
    const auto inner = begin(query);
    const auto innermost = begin(intern_tag("part"));
    recorder.capture_event(query, wire::SpanKind::Point, 0);
    end(query, innermost);
    end(query, inner);
    end(request, top);
  }
  const std::uint64_t taken = take().size();
  EXPECT_LT(taken, 400U);
  EXPECT_EQ(taken + shared.captures().published()->at(3).missed_limit, 400U);
}

TEST_F(CapturesTest, AreRetiredWhenWhoLookedHasLookedAway) {
  auto& captures = shared.captures();
  CaptureReads reads{0};
  CaptureReads never{0};
  std::vector<std::uint64_t> retired;
  const auto retire = [&] {
    captures.note_readers([&](auto note) {
      note(reads);
      note(never);
    });
    captures.retire([&](const CaptureSet& set) { retired.push_back(set.control()); });
  };
  const auto kept = [&] {
    std::vector<std::uint64_t> controls;
    captures.for_each([&](const CaptureSet& set) { controls.push_back(set.control()); });
    return controls;
  };
  ask(false);
  {
    const PublishedCaptures::Reader reader(captures, reads);
    ask(true);
    EXPECT_EQ(reader->control(), 1U);
    retire();
    EXPECT_TRUE(retired.empty());
    EXPECT_EQ(kept(), (std::vector<std::uint64_t>{1, 2}));
  }
  const PublishedCaptures::Reader another(captures, reads);  // at the next set
  retire();
  EXPECT_EQ(retired, std::vector<std::uint64_t>{1});
  EXPECT_EQ(kept(), std::vector<std::uint64_t>{2});
}

// The flusher does not know yet that this thread may read.
TEST_F(CapturesTest, AreTheNewOnesForAThreadThatJoinsAsTheyAreReplaced) {
  auto& captures = shared.captures();
  CaptureReads reads{0};
  std::optional<PublishedCaptures::Reader> reader;
  ask(false);
  ask(true);
  captures.note_readers([&](auto) { reader.emplace(captures, reads); });
  captures.retire([](const CaptureSet&) {});
  EXPECT_EQ((*reader)->control(), 2U);
}

TEST_F(CapturesTest, HaveTheirNotesUntilTheyEnd) {
  ask(false);
  const auto traced = begin(request);
  const std::uint32_t number = OpenTable::entry_at(traced.begun.ref)->number;
  SpanNotes* const notes = find_or_make_notes(number, traced.begun.moment);
  ASSERT_NE(notes, nullptr);
  notes->add("route", "/cart", {});
  notes->add("rows", {}, 7);
  notes->add("route", "/pay", {});
  EXPECT_EQ(find_or_make_notes(number, traced.begun.moment), notes);
  end(request, traced);
  const auto spans = take();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].notes.get(), notes);
  wire::Span span;
  notes->fill(span);
  ASSERT_EQ(span.attributes.size(), 2U);
  EXPECT_EQ(span.attributes[0].text, "/pay");
  EXPECT_EQ(span.attributes[1].number, 7);
  EXPECT_EQ(take_notes(number, traced.begun.moment), nullptr);
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
