// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread/recorder.hpp"

#include <poll.h>

#include <deque>
#include <iterator>
#include <numeric>
#include <vector>

#include "one_recorder.hpp"

namespace pcp::trace::client {
namespace {

struct RecorderTest : OneRecorder {
  // The values in the queue, in the order in which they come out.
  std::vector<double> take_queued() {
    std::vector<Record> records;
    recorder.dequeue(recorder.queued() - recorder.dequeued(), std::back_inserter(records));
    std::vector<double> values;
    for (const Record& record : records) values.push_back(record.value);
    return values;
  }
  bool is_rung() const {
    pollfd bell{doorbell.descriptor(), POLLIN, 0};
    return ::poll(&bell, 1, 0) == 1;
  }
};

TEST_F(RecorderTest, RingsWhenHalfOfItsRoomIsUsed) {
  for (std::uint32_t i = 0; i < kCapacity / 2; ++i) record(i);
  EXPECT_FALSE(is_rung());
  record(0);
  EXPECT_TRUE(is_rung());
}

// Gives the number of records that this recorder queues before it merges.
std::uint64_t room_of(Recorder& recorder, const Tag* tag) {
  while (recorder.merged() == 0) recorder.record(tag, 1, RecordKind::Point);
  return recorder.recorded() - 1;
}

TEST_F(RecorderTest, HasAllItsRoomBeforeItRings) {
  Recorder wide(shared, doorbell, 4096);
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
    rooms.push_back(room_of(many.emplace_back(shared, doorbell, 4096), tag));
  EXPECT_EQ(rooms.front(), 4096u);
  EXPECT_EQ(rooms.back(), std::uint64_t{Recorder::kFirstRoom});
  EXPECT_LE(std::accumulate(rooms.begin(), rooms.end(), std::uint64_t{0}),
            kMany * Recorder::kFirstRoom + Recorder::kWideThreads * 4096);
}

TEST_F(RecorderTest, PassesFromAnEndedThreadToANewOneWithItsRecords) {
  EXPECT_FALSE(recorder.try_take_over());
  record(1);
  recorder.give_up();
  EXPECT_TRUE(recorder.try_take_over());
  EXPECT_FALSE(recorder.try_take_over());
  record(2);
  EXPECT_EQ(take_queued(), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace pcp::trace::client
