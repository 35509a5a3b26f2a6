// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "one_recorder.hpp"
#include "process/flusher.hpp"
#include "support/scarce_memory.hpp"

namespace pcp::trace::client {
namespace {

struct DrainTest : OneRecorder {
  Pending pending;
  Drain drain{pending};

  // The first entry of what was recorded since the last call.
  Pending::Entry take() {
    if (!drain.drain(recorder, 1)) return {};
    Pending::Entry taken = pending.front();
    pending.pop();
    EXPECT_TRUE(pending.empty());
    return taken;
  }
};

TEST_F(DrainTest, TakesAllThatWasRecordedOnce) {
  for (int i = 1; i <= 5; ++i) record(i);
  const Pending::Entry taken = take();
  EXPECT_EQ(taken.delta.count, 5u);
  EXPECT_EQ(taken.delta.last, 5);
  EXPECT_EQ(taken.histogram.total(), 5u);
  EXPECT_EQ(taken.first_ns, 1u);
  EXPECT_FALSE(drain.drain(recorder, 1));
}

TEST_F(DrainTest, TakesCellsOnceAfterWhatWasQueuedBeforeThemAndLetsTheOwnerGoBackToItsQueue) {
  for (std::uint64_t round = 1; round <= 4; ++round) {
    for (std::uint32_t i = 1; i <= kCapacity + 10; ++i) record(i);
    EXPECT_EQ(recorder.merged(), round * 10);
    const Pending::Entry taken = take();
    EXPECT_EQ(taken.delta.count, kCapacity + 10);
    EXPECT_EQ(taken.delta.last, kCapacity + 10);
    EXPECT_EQ(taken.histogram.total(), kCapacity);
  }
}

TEST_F(DrainTest, TakesCellsWhereNothingIsQueued) {
  for (std::uint32_t i = 0; i < kCapacity + 5; ++i) record(i);
  std::vector<Record> queued;
  recorder.dequeue(kCapacity, std::back_inserter(queued));
  EXPECT_TRUE(drain.drain(recorder, 1));
  EXPECT_EQ(pending.front().delta.count, 5u);
}

TEST_F(DrainTest, MakesRoomForTheCellsOfManyTags) {
  for (std::uint32_t i = 0; i < kCapacity; ++i) record(i);
  for (int i = 0; i < 1000; ++i) {
    const Tag* other = intern_tag("cell " + std::to_string(i));
    ASSERT_EQ(recorder.record(other, 1, RecordKind::Observe), 0);
  }
  EXPECT_TRUE(drain.drain(recorder, 1));
  EXPECT_EQ(pending.queued(), 1001u);
}

// While the drain takes the first records, the owner fills its queue again and goes on with cells.
// Repeated until the owner was fast enough.
TEST_F(DrainTest, TakesWhatIsQueuedMeanwhileBeforeTheCells) {
  Recorder wide(shared, doorbell, 4096);
  const auto go_on = [&] { return wide.record(tag, 1, RecordKind::Observe) == 0; };
  for (bool has_happened = false; !has_happened;) {
    const std::uint64_t begun = wide.dequeued();
    const std::uint64_t merged = wide.merged();
    for (int i = 0; i < 3000; ++i) ASSERT_TRUE(go_on());
    const std::uint64_t at_first = wide.queued();
    std::thread owner([&] {
      while (wide.dequeued() == begun) continue;
      while (wide.merged() == merged && go_on()) continue;
    });
    EXPECT_TRUE(drain.drain(wide, 1));
    owner.join();
    if (pending.front().delta.count > wide.dequeued() - begun) {  // cells are among them
      ASSERT_EQ(wide.dequeued(), wide.queued());
      has_happened = wide.dequeued() > at_first;
    }
    while (drain.drain(wide, 1)) continue;
    pending.pop();
  }
}

// The owner counts upwards without a pause while another thread drains: nothing is lost or comes
// twice, and no record or last value of a cell is less than the one before.
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

#ifdef TRACE_SCARCE_MEMORY
TEST_F(DrainTest, TakesEachCallOnceForTheAgentAndForMmvThoughMemoryRunsOut) {
  for (std::size_t bytes = 1; bytes < 1 << 16; bytes *= 2) {
    Pending agents;
    MmvTotals mmvs;
    Drain both(agents, &mmvs);
    const std::uint64_t before = recorder.recorded();
    for (int round = 0; round < 3; ++round) {
      tag = intern_tag("scarce " + std::to_string(round));
      for (std::uint32_t i = 0; i < kCapacity + 10; ++i) record(1);
      const ScarceMemory scarce(bytes);
      EXPECT_TRUE(bytes > 1 || throws([&] { both.drain(recorder, 1); }));
      throws([&] { both.drain(recorder, 1); });
    }
    both.drain(recorder, 1);
    std::uint64_t agents_calls = 0;
    std::uint64_t mmvs_calls = 0;
    for (; !agents.empty(); agents.pop()) agents_calls += agents.front().records();
    for (const MmvInstance& each : mmvs.instances()) mmvs_calls += each.calls.since_start.count;
    EXPECT_EQ(agents_calls, recorder.recorded() - before) << bytes;
    EXPECT_EQ(mmvs_calls, agents_calls) << bytes;
  }
}
#endif

}  // namespace
}  // namespace pcp::trace::client
