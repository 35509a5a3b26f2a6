// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/thread_trace.hpp"

#include <string>

#include <gtest/gtest.h>

#include "one_recorder.hpp"
#include "own_process.hpp"

namespace pcp::trace::client {
namespace {

constexpr TraceContext kOutside{7, 8, 0, 9, 1 | std::uint64_t{5} << TraceContext::kStateShift};

TraceContext trace(std::uint64_t number) { return {number, number, 0, number}; }

// Transactions of one thread, as the calls begin and end them.
struct ThreadTraces : OneRecorder {
  ThreadTrace& thread = recorder.trace();
  // Not from the registry: other tests may have filled it.
  const Tag first_tag{};
  const Tag other_tag{};
  const Tag* const tag = &first_tag;
  const Tag* const other = &other_tag;

  OpenTransaction begin_in(const Tag* its_tag, TraceContext context) {
    const auto [begun, its_context] = recorder.begin_in(its_tag, {context});
    return {its_tag, begun};
  }
  void end(const OpenTransaction& open) { recorder.end_traced(open, {}, false); }
  TraceContext innermost() { return thread.innermost().context; }
  // Ends it as another thread would.
  static void end_elsewhere(const OpenTransaction& open) {
    OpenTable::entry_at(open.begun.ref)->begun = 0;
  }
  static bool is_parent(const Tag* its_tag) { return !its_tag->does_not_nest; }

  ThreadTraces() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(ThreadTraces, AreNoneAtFirst) {
  EXPECT_TRUE(thread.is_plain());
  EXPECT_FALSE(innermost().is_trace());
  const OpenTransaction plain = begin_in(tag, {});
  EXPECT_EQ(plain.begun.ref & OpenTable::kMarks, 0U);
  EXPECT_TRUE(thread.is_plain());
  end(plain);
}

TEST_F(ThreadTraces, NestAndEndInOrder) {
  const auto first = begin_in(tag, trace(1));
  EXPECT_FALSE(thread.is_plain());
  EXPECT_EQ(innermost(), trace(1));
  const auto second = begin_in(other, trace(2));
  EXPECT_EQ(innermost(), trace(2));
  end(second);
  end(second);  // a second end does nothing
  EXPECT_EQ(innermost(), trace(1));
  end(first);
  EXPECT_TRUE(thread.is_plain());
  EXPECT_TRUE(is_parent(tag) && is_parent(other));
  EXPECT_FALSE(recorder.open().has_open());
}

TEST_F(ThreadTraces, AreNotPassedOnToWhatBeginsInNone) {
  const auto outer = begin_in(tag, trace(1));
  const auto inner = begin_in(other, {});
  EXPECT_FALSE(innermost().is_trace());
  EXPECT_FALSE(thread.is_plain());
  end(inner);
  EXPECT_EQ(innermost(), trace(1));
  end(outer);
}

TEST_F(ThreadTraces, OfATransactionThatIsNotTheirFirstAreThoseOfTheThread) {
  const auto outer = begin_in(tag, kOutside);
  const auto [begun, context] = recorder.begin_traced(other);
  EXPECT_EQ(context, kOutside);
  EXPECT_EQ(begun.ref & OpenTable::kMarks, OpenTable::kHasTrace);
  end({other, begun});
  end(outer);
  EXPECT_FALSE(recorder.open().has_open());
}

TEST_F(ThreadTraces, DoNotNestWhereTheyEndOutOfOrder) {
  const auto first = begin_in(tag, trace(1));
  const auto second = begin_in(other, trace(2));
  end(first);
  EXPECT_FALSE(is_parent(tag));
  EXPECT_TRUE(is_parent(other));
  EXPECT_EQ(innermost(), trace(2));
  const auto third = begin_in(tag, trace(3));
  EXPECT_FALSE(innermost().is_trace());  // no trace is better than a wrong one
  end(third);
  end(second);
  EXPECT_TRUE(thread.is_plain());
}

TEST_F(ThreadTraces, DoNotNestWhereTheyEndOnOtherThreads) {
  const auto outer = begin_in(tag, trace(1));
  const auto inner = begin_in(other, trace(2));
  end_elsewhere(inner);
  EXPECT_TRUE(is_parent(other));
  EXPECT_EQ(innermost(), trace(1));
  EXPECT_FALSE(is_parent(other));
  end(outer);
  EXPECT_TRUE(is_parent(tag));
}

TEST_F(ThreadTraces, SayOnceThatTheyEndedOutOfOrder) {
  const auto end_outer_first = [this] {
    for (const char* const name : {"outer", "next"}) {
      const auto outer = begin_in(intern_tag(name), trace(1));
      const auto inner = begin_in(intern_tag("inner"), trace(2));
      end(outer);
      end(inner);
    }
    return true;
  };
  expect_said(end_outer_first,
              "pcp_trace: \"outer\" ended before \"inner\", [^\n]* pmtrace_detach [^\n]*\n");
}

TEST_F(ThreadTraces, SayOnceThatTheyEndedOnAnotherThread) {
  const auto end_on_another = [this] {
    for (const char* const name : {"first", "next"}) {
      end_elsewhere(begin_in(intern_tag(name), trace(1)));
      innermost();
    }
    return true;
  };
  expect_said(end_on_another,
              "pcp_trace: \"first\" ended on another thread [^\n]* pmtrace_detach [^\n]*\n");
}

TEST_F(ThreadTraces, SayNothingIfTheyAreDetachedOrTheirThreadEnds) {
  const auto detach_each = [this] {
    const auto first = begin_in(tag, trace(1));
    thread.detach(first);
    const auto second = begin_in(other, trace(2));
    thread.detach(second);
    thread.attach(first, trace(1));
    const auto part = begin_in(other, trace(3));
    thread.attach(second, trace(2));
    end(part);
    end_elsewhere(second);
    thread.detach({});
    end(first);
    end_elsewhere(begin_in(tag, trace(4)));
    thread.change_thread(false);
    innermost();
    return true;
  };
  expect_said(detach_each, "");
}

TEST_F(ThreadTraces, StillNestAfterTracingWasSwitchedOff) {
  begin_in(other, trace(1));
  recorder.open().clear();
  shared.open_entries().clear_counts();
  EXPECT_EQ(innermost(), trace(1));
  EXPECT_FALSE(recorder.open().has_open());  // the report shows none
}

TEST_F(ThreadTraces, AreAttachedAndDetachedByHand) {
  const auto first = begin_in(other, trace(1));
  thread.detach(first);
  EXPECT_TRUE(thread.is_plain());
  const auto second = begin_in(other, trace(2));
  thread.detach(second);
  EXPECT_TRUE(thread.attach(first, trace(1)));
  EXPECT_TRUE(thread.attach(second, trace(2)));
  EXPECT_TRUE(thread.attach(first, trace(1)));  // innermost again, and only once in the stack
  EXPECT_EQ(innermost(), trace(1));
  thread.detach(first);
  EXPECT_EQ(innermost(), trace(2));
  end_elsewhere(second);
  EXPECT_EQ(innermost(), trace(2));
  thread.detach(second);
  EXPECT_TRUE(thread.is_plain());
  end(first);
  EXPECT_TRUE(is_parent(other));
  thread.detach(first);  // a second time does nothing
}

TEST_F(ThreadTraces, AttachedAfterTheirEndStayUntilTheyAreDetached) {
  const auto ended = begin_in(tag, trace(1));
  end(ended);
  EXPECT_TRUE(thread.attach(ended, trace(1)));
  EXPECT_EQ(innermost(), trace(1));
  const auto inner = begin_in(other, trace(2));
  end(inner);
  EXPECT_EQ(innermost(), trace(1));
  thread.detach(ended);
  EXPECT_TRUE(thread.is_plain());
}

TEST_F(ThreadTraces, AreDetachedThoughTheirMemoryTellsNoMoreWhichTheyWere) {
  const auto outer = begin_in(tag, trace(1));
  const auto first = begin_in(other, trace(2));
  const auto second = begin_in(other, trace(3));
  EXPECT_TRUE(thread.attach(first, trace(2)));
  EXPECT_TRUE(thread.attach(second, trace(3)));
  end_elsewhere(first);
  thread.detach({});
  EXPECT_EQ(innermost(), trace(3));
  end(second);
  thread.detach({});  // removes the last ended one
  EXPECT_EQ(innermost(), trace(1));
  end(outer);
}

TEST_F(ThreadTraces, AttachedByHandMayBeInNone) {
  const auto plain = begin_in(other, {});
  EXPECT_TRUE(thread.attach(plain, {}));
  EXPECT_TRUE(thread.is_plain());  // there is no trace to hide
  const auto outer = begin_in(tag, trace(1));
  EXPECT_TRUE(thread.attach(plain, {}));
  EXPECT_FALSE(innermost().is_trace());
  thread.detach(plain);
  EXPECT_EQ(innermost(), trace(1));
  end(outer);
  end(plain);
}

TEST_F(ThreadTraces, AreAttachedOnlyWhereTheirEndIsSeen) {
  const OpenTransaction nowhere{tag, {4, OpenTable::kNoRef | OpenTable::kHasTrace}};
  EXPECT_FALSE(thread.attach(nowhere, trace(1)));
  const OpenTransaction counted{tag, {4, 1}};
  EXPECT_FALSE(thread.attach(counted, trace(1)));
  EXPECT_TRUE(thread.is_plain());
}

TEST_F(ThreadTraces, OfWhichThereAreTooManyLoseTheOutermost) {
  std::vector<OpenTransaction> opened;
  for (std::uint64_t i = 1; i <= 60; ++i) opened.push_back(begin_in(tag, trace(i)));
  for (std::uint64_t i = 60; i > 60 - 48; --i) {
    EXPECT_EQ(innermost(), trace(i));
    end(opened[i - 1]);
  }
  EXPECT_FALSE(innermost().is_trace());
  for (std::uint64_t i = 60 - 48; i > 0; --i) end(opened[i - 1]);
  EXPECT_TRUE(thread.is_plain());
  EXPECT_FALSE(recorder.open().has_open());
}

TEST_F(ThreadTraces, AreForgottenWithTheThread) {
  begin_in(tag, trace(1));
  thread.change_thread(false);
  EXPECT_TRUE(thread.is_plain());
  EXPECT_FALSE(innermost().is_trace());
}

TEST(TracesOfThreads, BeginByThemselvesIfAllHaveIds) {
  SharedParts shared;
  Doorbell doorbell;
  const TraceOptions options{{}, true};
  Recorder recorder{shared, doorbell, 16, options};
  ThreadTrace& thread = recorder.trace();
  const Tag root_tag{};
  const Tag* const tag = &root_tag;
  EXPECT_FALSE(thread.is_plain());
  const auto end = [&](const Traced& open) {
    recorder.end_traced({tag, open.begun}, open.context, false);
  };
  const Traced outer = recorder.begin_traced(tag);
  const TraceContext root = outer.context;
  EXPECT_TRUE(root.is_trace() && root.trace_high != 0 && root.own != 0);
  EXPECT_EQ(root.parent, 0U);
  EXPECT_EQ(root.flags(), kRandomFlag);
  const Traced part = recorder.begin_traced(tag);
  EXPECT_EQ(part.context, root.inside());
  end(part);
  end(outer);
  const Traced next = recorder.begin_traced(tag);
  EXPECT_NE(next.context.trace_low, root.trace_low);
  end(next);
  EXPECT_FALSE(recorder.open().has_open());
  EXPECT_FALSE(thread.is_plain());
}

// A process takes its trace only in the first minute.
TEST(TracesOfThreads, AreTheProcessesOwnOnTheMainThread) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto check = [] {
    SharedParts shared;
    Doorbell doorbell;
    const TraceOptions options{
        start_trace("00-00000000000000010000000000000002-0000000000000003-01", "a=1"), false};
    Recorder recorder{shared, doorbell, 16, options};
    ThreadTrace& thread = recorder.trace();
    thread.change_thread(false);
    EXPECT_TRUE(thread.is_plain());
    thread.change_thread(true);
    EXPECT_FALSE(thread.is_plain());
    const TraceContext context = thread.innermost().context;
    TraceContext expected{1, 2, 0, 3};
    expected.set_flags(1 | kInsideOneThatCameInFlag);
    expected.set_state(context.state());
    EXPECT_EQ(context, expected);
    Tracestates::Text text;
    EXPECT_EQ(std::string(text.data(), tracestates.copy(context.state(), 2, text)), "a=1");
    return !testing::Test::HasFailure();
  };
  expect_said(check, "");
}

}  // namespace
}  // namespace pcp::trace::client
