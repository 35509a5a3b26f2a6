// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/overflow.hpp"

#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <atomic>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "deltas.hpp"
#include "support/encoded.hpp"
#include "support/scarce_memory.hpp"

namespace pcp::trace::client {
namespace {

const Tag* tag(const char* name) { return intern_tag(name); }

using Cells = std::map<std::pair<std::string, RecordKind>, Delta>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct OverflowTest : testing::Test {
  Overflow overflow;
  OverflowSlab spare;

  // Takes the contents of the cells, by tag and series.
  Cells take(Overflow& from) {
    Cells cells;
    if (!from.is_written()) return cells;
    EXPECT_EQ(from.exchange(spare, from.needed_room()), Overflow::Exchanged::Yes);
    spare.for_each([&](const OverflowCell& cell) {
      cells[{cell.tag->text(), cell.kind}].merge(cell.delta);
    });
    spare.clear();
    return cells;
  }
  Cells take() { return take(overflow); }
};

// A histogram has seen none of them.
TEST_F(OverflowTest, AddsUpWhatItIsGivenForEachTagAndSeries) {
  for (const Record& record : std::vector<Record>{{tag("a"), 3, RecordKind::Observe},
                                                  {tag("a"), -1, RecordKind::Observe},
                                                  {tag("a"), 2, RecordKind::Observe},
                                                  {tag("a"), 7, RecordKind::Counter},
                                                  {tag("a"), 1, RecordKind::Add},
                                                  {tag("a"), 2, RecordKind::Add},
                                                  {tag("a"), 4, RecordKind::Add},
                                                  {tag("b"), 0, RecordKind::Point},
                                                  {tag("b"), 0.5, RecordKind::Transact},
                                                  {tag("b"), 9, RecordKind::Abort}})
    ASSERT_TRUE(overflow.add(record, 0));
  EXPECT_EQ(take(), (Cells{{{"a", RecordKind::Observe}, delta_of({3, -1, 2}, 3)},
                           {{"a", RecordKind::Counter}, delta_of({7})},
                           {{"a", RecordKind::Add}, delta_of({1, 2, 4})},
                           {{"b", RecordKind::Point}, {.count = 1}},
                           {{"b", RecordKind::Transact}, delta_of({0.5}, 1)},
                           {{"b", RecordKind::Abort}, delta_of({9}, 1)}}));
}

TEST_F(OverflowTest, KeepsASumFinite) {
  for (int i = 0; i < 3; ++i) overflow.add({tag("great"), -1e308, RecordKind::Observe}, 0);
  const Delta delta = take()[{"great", RecordKind::Observe}];
  EXPECT_EQ(delta.sum, -std::numeric_limits<double>::max());
}

TEST_F(OverflowTest, CountsWhatIsNotFiniteApartAndKeepsItAsTheLastValue) {
  for (const RecordKind kind : {RecordKind::Transact, RecordKind::Observe, RecordKind::Counter}) {
    overflow.add({tag("odd"), -kInfinity, kind}, 0);
    overflow.add({tag("even"), 2.0, kind}, 0);
    overflow.add({tag("even"), kInfinity, kind}, 0);
  }
  const auto cells = take();
  ASSERT_EQ(cells.size(), 6u);
  for (const RecordKind kind : {RecordKind::Transact, RecordKind::Observe, RecordKind::Counter}) {
    const std::uint64_t unbinned = kind == RecordKind::Counter ? 0 : 1;
    EXPECT_EQ((cells.at({"odd", kind})), delta_of({-kInfinity}));
    EXPECT_EQ((cells.at({"even", kind})), delta_of({2, kInfinity}, unbinned));
  }
}

// The flusher gives a thread a slab that it took from another thread.
TEST_F(OverflowTest, FindsNothingOfOthersInItsSlab) {
  Overflow first;
  Overflow second;
  const auto names_in = [&](Overflow& from) {
    std::vector<std::string> names;
    for (const auto& [tag_and_type, delta] : take(from)) names.push_back(tag_and_type.first);
    return names;
  };
  first.add({tag("first"), std::nan(""), RecordKind::Observe}, 0);
  second.add({tag("second"), 1.0, RecordKind::Observe}, 0);
  EXPECT_EQ(names_in(first), std::vector<std::string>{"first"});
  EXPECT_EQ(names_in(second), std::vector<std::string>{"second"});
  second.add({tag("second"), 2.0, RecordKind::Observe}, 0);
  first.add({tag("third"), 3.0, RecordKind::Observe}, 0);
  EXPECT_EQ(names_in(second), std::vector<std::string>{"second"});
  EXPECT_EQ(names_in(first), std::vector<std::string>{"third"});
  EXPECT_TRUE(spare.empty());
}

TEST_F(OverflowTest, IsInUseUntilTheFlusherTakesItsCellsOnce) {
  for (int time = 0; time < 2; ++time) {
    EXPECT_FALSE(overflow.is_in_use());
    overflow.add({tag("once"), 1.0, RecordKind::Observe}, 0);
    EXPECT_TRUE(overflow.is_in_use());
    EXPECT_EQ(take().size(), 1u);
    EXPECT_TRUE(take().empty());
  }
}

TEST_F(OverflowTest, SaysHowMuchWasQueuedBeforeItsFirstCell) {
  for (const std::uint64_t queued : {42u, 43u, 44u})
    overflow.add({tag("p"), 1.0, RecordKind::Observe}, queued);
  EXPECT_EQ(overflow.queued_before(), 42u);
  take();
  overflow.add({tag("p"), 1.0, RecordKind::Observe}, 50);
  EXPECT_EQ(overflow.queued_before(), 50u);
}

TEST_F(OverflowTest, KeepsThousandsOfTagsApart) {
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 5000; ++i)
      overflow.add(
          {intern_tag("many " + std::to_string(i)), static_cast<double>(i), RecordKind::Observe},
          0);
  auto cells = take();
  ASSERT_EQ(cells.size(), 5000u);
  for (int i = 0; i < 5000; ++i)
    EXPECT_EQ((cells[{"many " + std::to_string(i), RecordKind::Observe}].sum), 3.0 * i);
}

// The owner may write a cell for a tag that is newer than the room.
TEST_F(OverflowTest, KeepsItsCellsIfThereIsANewerTagThanThereIsRoomFor) {
  overflow.add({tag("older"), 1, RecordKind::Point}, 0);
  const Overflow::Room room = overflow.needed_room();
  overflow.add({tag("newer than the room"), 1, RecordKind::Point}, 0);
  EXPECT_EQ(overflow.exchange(spare, room), Overflow::Exchanged::NoRoom);
  EXPECT_TRUE(spare.empty());
  EXPECT_EQ(take().size(), 2u);
}

TEST_F(OverflowTest, KeepsItsCellsIfThereAreMoreThanThereIsRoomFor) {
  for (int i = 0; i < 100; ++i) tag(("crowd " + std::to_string(i)).c_str());
  overflow.add({tag("crowd 0"), 1, RecordKind::Point}, 0);
  const Overflow::Room room = overflow.needed_room();
  for (int i = 0; i < 100; ++i)
    overflow.add({tag(("crowd " + std::to_string(i)).c_str()), 1, RecordKind::Point}, 0);
  EXPECT_EQ(overflow.exchange(spare, room), Overflow::Exchanged::NoRoom);
  EXPECT_EQ(take().size(), 100u);
}

#if defined(__x86_64__) && defined(TRACE_SCARCE_MEMORY)  // a sanitizer minds what look() does
OverflowSlab* stepped = nullptr;
bool is_taken = true;

// A signal handler that ends the process finds these cells: the agent must be able to read them.
void look(int) {
  if (stepped->is_growing()) return;
  std::string body;
  stepped->for_each([&](const OverflowCell& cell) {
    wire::append_delta(body, 1, type_of(cell.kind), cell.delta, {});
  });
  const std::string pdu = wire::pdu_of(wire::append_batch, 1, {}, body);
  wire::Batch batch;
  is_taken &= wire::decode_batch(wire::payload_of(pdu), batch);
}

// After each instruction of the processor.
TEST_F(OverflowTest, CanBeReadWhereverAHandlerInterruptsIt) {
  constexpr std::uint64_t kStep = 1 << 8;  // the trap flag
  ASSERT_NE(std::signal(SIGTRAP, look), SIG_ERR);
  for (const std::vector<double>& values : std::vector<std::vector<double>>{
           {2, 3, 1, -kInfinity, 4}, {kInfinity, 2, kInfinity, 3}, {kInfinity, kInfinity, 1, 0}})
    for (const RecordKind kind : {RecordKind::Observe, RecordKind::Transact}) {
      OverflowSlab slab;
      stepped = &slab;
      for (const double value : values) {
        const Record record{tag("stepped"), value, kind};
        __writeeflags(__readeflags() | kStep);
        slab.add(record);
        __writeeflags(__readeflags() & ~kStep);
        EXPECT_TRUE(is_taken) << value << " after " << values.front();
      }
    }
  std::signal(SIGTRAP, SIG_DFL);
}
#endif

#ifdef TRACE_SCARCE_MEMORY
TEST_F(OverflowTest, IsNoCancellationPointWhereItWaits) {
  std::thread other;
  std::atomic<int> has_returned{0};
  const DuringAllocation holds(1, [&] {  // the flag
    std::atomic<pid_t> id{0};
    other = std::thread([&] {
      ::pthread_cancel(::pthread_self());
      id = ::gettid();
      overflow.add({tag("waits"), 1, RecordKind::Point}, 0);
      has_returned = 1;
    });
    const auto state = [&id] {
      std::string text;
      std::getline(std::ifstream("/proc/self/task/" + std::to_string(id) + "/stat"), text);
      return text.empty() ? 'Z' : text.at(text.rfind(')') + 2);
    };
    while (id == 0 || state() == 'R') std::this_thread::yield();  // until it sleeps, or is gone
  });
  overflow.add({tag("holds"), 1, RecordKind::Point}, 0);
  other.join();
  EXPECT_EQ(has_returned, 1);
}
#endif

// A signal handler that ends the process does this: a thread that it interrupted in the middle of a
// cell must not keep the flusher from the other cells.
TEST_F(OverflowTest, ReleasesNothingThatItsOwnerDoesNotHold) {
  overflow.add({tag("a"), 1, RecordKind::Point}, 0);
  overflow.release_for_exit();
  EXPECT_EQ(take().size(), 1u);
}

}  // namespace
}  // namespace pcp::trace::client
