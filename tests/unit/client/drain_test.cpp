// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/drain.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

struct DrainTest : testing::Test {
  static constexpr std::uint32_t kCapacity = 16;
  RecordQueue queue{0};
  Doorbell doorbell;
  Recorder recorder{queue, doorbell, kCapacity};
  Pending pending;
  Drain drain{pending};
  const Tag* tag = intern_tag("drained");

  void record(double value) { ASSERT_EQ(recorder.record(tag, value, RecordKind::Observe), 0); }

  // What was recorded since the last time.
  Pending::Entry take() {
    if (!drain.take(recorder, 1)) return {};
    Pending::Entry taken = pending.front();
    pending.pop();
    EXPECT_TRUE(pending.empty());
    return taken;
  }
};

TEST_F(DrainTest, TakesNothingWhereNothingIs) { EXPECT_FALSE(drain.take(recorder, 1)); }

TEST_F(DrainTest, TakesAllThatWasRecordedOnce) {
  for (int i = 1; i <= 5; ++i) record(i);
  const Pending::Entry taken = take();
  EXPECT_EQ(taken.delta.count, 5u);
  EXPECT_EQ(taken.delta.last, 5);
  EXPECT_EQ(taken.histogram.total(), 5u);
  EXPECT_EQ(taken.first_ns, 1u);
  EXPECT_FALSE(drain.take(recorder, 1));
}

TEST_F(DrainTest, TakesCellsAfterWhatWasQueuedBeforeThem) {
  for (std::uint32_t i = 1; i <= kCapacity + 10; ++i) record(i);
  const Pending::Entry taken = take();
  EXPECT_EQ(taken.delta.count, kCapacity + 10);
  EXPECT_EQ(taken.delta.last, kCapacity + 10);
  EXPECT_EQ(taken.histogram.total(), kCapacity);
}

TEST_F(DrainTest, LetsTheOwnerGoBackToItsQueue) {
  for (std::uint32_t i = 0; i < kCapacity + 1; ++i) record(i);
  take();
  record(100);
  EXPECT_EQ(recorder.merged(), 1u);
  EXPECT_EQ(take().delta.last, 100);
}

TEST_F(DrainTest, GivesTheCellsOfOneThreadToTheNext) {
  Recorder other(queue, doorbell, 2);
  for (std::uint32_t i = 0; i < kCapacity + 1; ++i) record(1);
  take();
  for (int i = 0; i < 5; ++i) ASSERT_EQ(other.record(tag, 2, RecordKind::Observe), 0);
  ASSERT_TRUE(drain.take(other, 1));
  EXPECT_EQ(pending.front().delta.count, 5u);
  EXPECT_EQ(pending.front().delta.min, 2);
}

// The owner counts upwards without a pause while another thread drains: nothing is lost, nothing
// comes twice, and neither a record nor a cell's last value ever goes backwards.
TEST_F(DrainTest, KeepsCountAndOrderWhileTheOwnerRecords) {
  constexpr int kRecords = 2'000'000;
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (int i = 1; i <= kRecords; ++i)
      if (recorder.record(tag, static_cast<double>(i), RecordKind::Observe) != 0) break;
    done = true;
  });
  Delta total;
  bool ordered = true;
  for (bool last_round = false; !last_round;) {
    last_round = done;
    const Delta some = take().delta;
    if (some.count == 0) continue;
    ordered = ordered && some.min > total.last && some.last == some.max;
    total.merge(some);
  }
  owner.join();
  EXPECT_EQ(total.count, std::uint64_t{kRecords});
  EXPECT_EQ(total.sum, 0.5 * kRecords * (kRecords + 1.0));
  EXPECT_EQ(total.last, kRecords);
  EXPECT_TRUE(ordered);
  EXPECT_EQ(recorder.recorded(), std::uint64_t{kRecords});
  EXPECT_GT(recorder.merged(), 0u);
}

}  // namespace
}  // namespace pcp::trace::client
