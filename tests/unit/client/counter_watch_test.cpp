// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/counter_watch.hpp"

#include <string>

#include "one_recorder.hpp"
#include "process/drain.hpp"

namespace pcp::trace::client {
namespace {

struct CounterWatchTest : OneRecorder {
  Recorder other{queue, doorbell, kCapacity};
  Pending pending;
  Drain drain{pending};

  // Records a value, and flushes at once.
  void report(Recorder& whose, double value, RecordKind kind = RecordKind::Counter) {
    ASSERT_EQ(whose.record(tag, value, kind), 0);
    drain.take(whose, 1);
    pending.pop();
  }
  void report(double value) { report(recorder, value); }

  template <typename Report>
  static std::string said(Report reports) {
    testing::internal::CaptureStderr();
    reports();
    return testing::internal::GetCapturedStderr();
  }
};

bool contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST_F(CounterWatchTest, SaysOnceThatAValueIsRepeatedForEver) {
  EXPECT_EQ(said([&] {
              for (int i = 0; i < 999; ++i) report(1);
            }),
            "");
  const std::string text = said([&] { report(1); });
  EXPECT_TRUE(contains(text, "\"recorded\" has had the same value 1000 times"));
  EXPECT_TRUE(contains(text, "pmtrace_add"));
  EXPECT_EQ(said([&] {
              for (int i = 0; i < 2000; ++i) report(2);
              report(1);
            }),
            "");
}

TEST_F(CounterWatchTest, SaysNothingOfATagThatStandsForOthers) {
  tag->stands_for_others = true;
  EXPECT_EQ(said([&] {
              report(5);
              report(3);
            }),
            "");
  tag->stands_for_others = false;  // other tests have the same tag
}

TEST_F(CounterWatchTest, SaysThatAValueGoesDown) {
  const std::string text = said([&] {
    report(5);
    report(3);
  });
  EXPECT_TRUE(contains(text, "\"recorded\" goes down"));
  EXPECT_TRUE(contains(text, "call pmtrace_add() (C++ and Java: add; pmtrace: -a).\n")) << text;
}

TEST_F(CounterWatchTest, SaysNothingOfACounterThatGrowsOrRests) {
  EXPECT_EQ(said([&] {
              for (int i = 0; i < 3000; ++i) report(i / 3);
            }),
            "");
}

TEST_F(CounterWatchTest, SaysNothingOfWhatNeverHappens) {
  EXPECT_EQ(said([&] {
              for (int i = 0; i < 3000; ++i) report(0);
            }),
            "");
}

TEST_F(CounterWatchTest, SaysNothingWhereThreadsOvertakeEachOther) {
  EXPECT_EQ(said([&] {
              for (int i = 1; i < 3000; ++i) {
                report(recorder, 2 * i + 1);
                report(other, 2 * i);
              }
            }),
            "");
}

TEST_F(CounterWatchTest, SaysNothingWhereAThreadEndsBeforeAnotherBegins) {
  EXPECT_EQ(said([&] {
              report(5);
              recorder.give_up();
              ASSERT_TRUE(recorder.try_take_over());
              report(4);  // counted before the other thread's last one
            }),
            "");
}

TEST_F(CounterWatchTest, SaysNothingOfIncrements) {
  EXPECT_EQ(said([&] {
              for (int i = 0; i < 2000; ++i) report(recorder, 1, RecordKind::Add);
            }),
            "");
}

}  // namespace
}  // namespace pcp::trace::client
