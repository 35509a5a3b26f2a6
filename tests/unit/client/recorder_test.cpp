// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/recorder.hpp"

#include <poll.h>

#include <deque>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

struct RecorderTest : testing::Test {
  static constexpr std::uint32_t kCapacity = 16;
  RecordQueue queue{0};
  Doorbell doorbell;
  Recorder recorder{queue, doorbell, kCapacity};
  const Tag* tag = intern_tag("recorded");

  std::vector<double> records;  // in the order in which they were drained
  std::uint64_t merged = 0;
  double last = 0;

  bool drain() {
    return recorder.drain([](std::size_t) {}, std::identity(),
                          [&](std::span<const Record> some) {
                            for (const Record& record : some) records.push_back(record.value);
                            last = some.back().value;
                          },
                          [&](const OverflowCell& cell) {
                            merged += cell.delta.count;
                            last = cell.delta.last;
                          });
  }
  void record(double value) { ASSERT_EQ(recorder.record(tag, value, RecordKind::Observe), 0); }
  bool is_rung() const {
    pollfd bell{doorbell.descriptor(), POLLIN, 0};
    return ::poll(&bell, 1, 0) == 1;
  }
};

TEST_F(RecorderTest, HandsRecordsOverInOrder) {
  EXPECT_FALSE(drain());
  for (int i = 0; i < 5; ++i) record(i);
  EXPECT_TRUE(drain());
  EXPECT_EQ(records, (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(drain());
}

TEST_F(RecorderTest, RingsWhenHalfOfItsRoomIsUsed) {
  for (std::uint32_t i = 0; i < kCapacity / 2; ++i) record(i);
  EXPECT_FALSE(is_rung());
  record(0);
  EXPECT_TRUE(is_rung());
}

// Gives the number of records that this one queues before it merges.
std::uint64_t room_of(Recorder& recorder, const Tag* tag) {
  while (recorder.merged() == 0) recorder.record(tag, 1, RecordKind::Point);
  return recorder.recorded() - 1;
}

TEST_F(RecorderTest, HasAllItsRoomBeforeItRings) {
  Recorder wide(queue, doorbell, 4096);
  for (int i = 0; i < 2048; ++i) wide.record(tag, 1, RecordKind::Point);
  EXPECT_FALSE(is_rung());
  EXPECT_EQ(room_of(wide, tag), 4096u);
  EXPECT_TRUE(is_rung());
}

TEST_F(RecorderTest, HasLittleRoomIfManyOthersHaveTakenMore) {
  constexpr int kMany = 64;
  std::deque<Recorder> many;
  std::vector<std::uint64_t> rooms;
  for (int i = 0; i < kMany; ++i)
    rooms.push_back(room_of(many.emplace_back(queue, doorbell, 4096), tag));
  EXPECT_EQ(rooms.front(), 4096u);
  EXPECT_EQ(rooms.back(), std::uint64_t{Recorder::kFirstRoom});
  EXPECT_LE(std::accumulate(rooms.begin(), rooms.end(), std::uint64_t{0}),
            kMany * Recorder::kFirstRoom + Recorder::kWideThreads * 4096);
}

TEST_F(RecorderTest, LosesNothingWhenItIsFull) {
  for (std::uint32_t i = 0; i < kCapacity + 10; ++i) record(i);
  EXPECT_EQ(recorder.merged(), 10u);
  EXPECT_EQ(recorder.recorded(), kCapacity + 10);
  drain();
  EXPECT_EQ(records.size(), kCapacity);
  EXPECT_EQ(merged, 10u);
  EXPECT_EQ(last, kCapacity + 9);
}

TEST_F(RecorderTest, GoesBackToItsQueueWhenTheCellsWereTaken) {
  for (std::uint32_t i = 0; i < kCapacity + 1; ++i) record(i);
  drain();
  record(100);
  EXPECT_EQ(recorder.merged(), 1u);
  drain();
  EXPECT_EQ(records.size(), kCapacity + 1);
  EXPECT_EQ(last, 100);
}

// The owner counts upwards without a pause while another thread drains: nothing is lost, nothing
// comes twice, and neither a record nor a cell's last value ever goes backwards.
TEST_F(RecorderTest, KeepsCountAndOrderWhileItIsDrained) {
  constexpr int kRecords = 2'000'000;
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (int i = 1; i <= kRecords; ++i)
      if (recorder.record(tag, static_cast<double>(i), RecordKind::Observe) != 0) break;
    done = true;
  });
  std::uint64_t count = 0;
  double sum = 0;
  double latest = 0;
  bool ordered = true;
  const auto see = [&](double first, double value) {
    ordered &= first > latest;
    latest = value;
  };
  for (bool last_round = false;;) {
    last_round = done;
    recorder.drain([](std::size_t) {}, std::identity(),
                   [&](std::span<const Record> some) {
                     for (const Record& record : some) {
                       ++count;
                       sum += record.value;
                       see(record.value, record.value);
                     }
                   },
                   [&](const OverflowCell& cell) {
                     count += cell.delta.count;
                     sum += cell.delta.sum;
                     see(cell.delta.min, cell.delta.last);
                   });
    if (last_round) break;
  }
  owner.join();
  EXPECT_EQ(count, std::uint64_t{kRecords});
  EXPECT_EQ(sum, 0.5 * kRecords * (kRecords + 1.0));
  EXPECT_EQ(latest, kRecords);
  EXPECT_TRUE(ordered);
  EXPECT_EQ(recorder.recorded(), std::uint64_t{kRecords});
  EXPECT_GT(recorder.merged(), 0u);
}

TEST_F(RecorderTest, PassesFromAnEndedThreadToANewOneWithItsRecords) {
  EXPECT_FALSE(recorder.try_take_over());
  record(1);
  recorder.give_up();
  EXPECT_TRUE(recorder.try_take_over());
  EXPECT_FALSE(recorder.try_take_over());
  record(2);
  drain();
  EXPECT_EQ(records, (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace pcp::trace::client
