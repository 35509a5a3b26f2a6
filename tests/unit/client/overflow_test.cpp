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

#include "support/scarce_memory.hpp"
#include "wire/batch.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {
namespace {

const Tag* tag(const char* name) { return intern_tag(name); }

using Cells = std::map<std::pair<std::string, TraceType>, Delta>;

// Takes the contents of the cells, by tag and type.
Cells take(Overflow& overflow, OverflowSlab& spare) {
  Cells cells;
  if (!overflow.is_written()) return cells;
  EXPECT_EQ(overflow.exchange(spare, overflow.needed_room()), Overflow::Exchanged::Yes);
  spare.for_each([&](const OverflowCell& cell) {
    cells[{cell.tag->text(), type_of(cell.kind)}].merge(cell.delta);
  });
  spare.clear();
  return cells;
}

Cells take(Overflow& overflow) {
  OverflowSlab spare;
  return take(overflow, spare);
}

TEST(Overflow, AddsUpWhatItIsGiven) {
  Overflow overflow;
  for (double value : {3.0, -1.0, 2.0})
    ASSERT_TRUE(overflow.add({tag("a"), value, RecordKind::Observe}, 0));
  ASSERT_TRUE(overflow.add({tag("a"), 7.0, RecordKind::Counter}, 0));
  ASSERT_TRUE(overflow.add({tag("b"), 0.0, RecordKind::Point}, 0));
  ASSERT_TRUE(overflow.add({tag("b"), 0.5, RecordKind::Transact}, 0));
  ASSERT_TRUE(overflow.add({tag("b"), 9.0, RecordKind::Abort}, 0));
  auto cells = take(overflow);
  ASSERT_EQ(cells.size(), 4u);
  const Delta& observed = cells[{"a", TraceType::Observe}];
  EXPECT_EQ(observed.count, 3u);
  EXPECT_EQ(observed.sum, 4.0);
  EXPECT_EQ(observed.min, -1.0);
  EXPECT_EQ(observed.max, 3.0);
  EXPECT_EQ(observed.last, 2.0);
  EXPECT_EQ(observed.unbinned, 3u);
  EXPECT_EQ((cells[{"a", TraceType::Counter}].last), 7.0);
  EXPECT_EQ((cells[{"b", TraceType::Point}].count), 1u);
  EXPECT_EQ((cells[{"b", TraceType::Transact}].count), 1u);
  EXPECT_EQ((cells[{"b", TraceType::Transact}].aborts), 1u);
}

TEST(Overflow, KeepsIncrementsApartFromACountersValues) {
  Overflow overflow;
  overflow.add({tag("both"), 7, RecordKind::Counter}, 0);
  for (const double value : {1, 2, 4}) overflow.add({tag("both"), value, RecordKind::Add}, 0);
  OverflowSlab slab;
  ASSERT_EQ(overflow.exchange(slab, overflow.needed_room()), Overflow::Exchanged::Yes);
  std::map<RecordKind, Delta> cells;
  slab.for_each([&](const OverflowCell& cell) { cells[cell.kind] = cell.delta; });
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[RecordKind::Counter].last, 7);
  EXPECT_EQ(cells[RecordKind::Counter].count, 1u);
  EXPECT_EQ(cells[RecordKind::Add].count, 3u);
  EXPECT_EQ(cells[RecordKind::Add].sum, 7);
}

TEST(Overflow, KeepsASumFinite) {
  Overflow overflow;
  for (int i = 0; i < 3; ++i) overflow.add({tag("great"), -1e308, RecordKind::Observe}, 0);
  auto cells = take(overflow);
  EXPECT_EQ((cells[{"great", TraceType::Observe}].sum), -std::numeric_limits<double>::max());
}

TEST(Overflow, CountsWhatIsNotFiniteApart) {
  Overflow overflow;
  overflow.add({tag("n"), 1.0, RecordKind::Observe}, 0);
  overflow.add({tag("n"), std::numeric_limits<double>::infinity(), RecordKind::Observe}, 0);
  auto cells = take(overflow);
  const Delta& delta = cells[{"n", TraceType::Observe}];
  EXPECT_EQ(delta.count, 2u);
  EXPECT_EQ(delta.nonfinite, 1u);
  EXPECT_EQ(delta.unbinned, 1u);
  EXPECT_EQ(delta.sum, 1.0);
}

TEST(Overflow, KeepsALastValueThatIsNotFinite) {
  Overflow overflow;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const RecordKind kind : {RecordKind::Transact, RecordKind::Observe, RecordKind::Counter}) {
    overflow.add({tag("odd"), -kInfinity, kind}, 0);
    overflow.add({tag("even"), 2.0, kind}, 0);
    overflow.add({tag("even"), kInfinity, kind}, 0);
  }
  auto cells = take(overflow);
  ASSERT_EQ(cells.size(), 6u);
  for (const TraceType type : {TraceType::Transact, TraceType::Observe, TraceType::Counter}) {
    EXPECT_EQ((cells[{"odd", type}].count), 1u);
    EXPECT_EQ((cells[{"odd", type}].nonfinite), 1u);
    EXPECT_EQ((cells[{"odd", type}].min), kInfinity);  // no finite value
    EXPECT_EQ((cells[{"odd", type}].last), -kInfinity);
    EXPECT_EQ((cells[{"even", type}].nonfinite), 1u);
    EXPECT_EQ((cells[{"even", type}].max), 2.0);
    EXPECT_EQ((cells[{"even", type}].last), kInfinity);
  }
}

TEST(Overflow, SaysOfEachTypeWhatNoHistogramHasSeen) {
  Overflow overflow;
  for (const RecordKind kind : {RecordKind::Transact, RecordKind::Point, RecordKind::Observe,
                                RecordKind::Counter, RecordKind::Abort})
    overflow.add({tag("seen"), 1.0, kind}, 0);
  auto cells = take(overflow);
  for (const TraceType type : kTraceTypes)
    EXPECT_EQ((cells[{"seen", type}].unbinned), has_histogram(type) ? 1u : 0u);
}

// The flusher gives a thread a slab that it took from another thread.
TEST(Overflow, FindsNothingOfOthersInItsSlab) {
  Overflow first;
  Overflow second;
  OverflowSlab spare;
  const auto names_in = [&](Overflow& overflow) {
    std::vector<std::string> names;
    for (const auto& [tag_and_type, delta] : take(overflow, spare))
      names.push_back(tag_and_type.first);
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

TEST(Overflow, GivesNothingTwice) {
  Overflow overflow;
  overflow.add({tag("once"), 1.0, RecordKind::Observe}, 0);
  EXPECT_EQ(take(overflow).size(), 1u);
  EXPECT_TRUE(take(overflow).empty());
  overflow.add({tag("once"), 1.0, RecordKind::Observe}, 0);
  EXPECT_EQ(take(overflow).size(), 1u);
}

TEST(Overflow, IsInUseUntilTheFlusherTakesItsCells) {
  Overflow overflow;
  EXPECT_FALSE(overflow.is_in_use());
  overflow.add({tag("use"), 1.0, RecordKind::Observe}, 0);
  EXPECT_TRUE(overflow.is_in_use());
  take(overflow);
  EXPECT_FALSE(overflow.is_in_use());
}

TEST(Overflow, SaysHowMuchWasQueuedBeforeItsFirstCell) {
  Overflow overflow;
  for (const std::uint64_t queued : {42u, 43u, 44u})
    overflow.add({tag("p"), 1.0, RecordKind::Observe}, queued);
  EXPECT_EQ(overflow.queued_before(), 42u);
  take(overflow);
  overflow.add({tag("p"), 1.0, RecordKind::Observe}, 50);
  EXPECT_EQ(overflow.queued_before(), 50u);
}

TEST(Overflow, KeepsThousandsOfTagsApart) {
  Overflow overflow;
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 5000; ++i)
      overflow.add(
          {intern_tag("many " + std::to_string(i)), static_cast<double>(i), RecordKind::Observe},
          0);
  auto cells = take(overflow);
  ASSERT_EQ(cells.size(), 5000u);
  for (int i = 0; i < 5000; ++i)
    EXPECT_EQ((cells[{"many " + std::to_string(i), TraceType::Observe}].sum), 3.0 * i);
}

// The owner may write a cell for a tag that is newer than the room.
TEST(Overflow, KeepsItsCellsIfThereIsANewerTagThanThereIsRoomFor) {
  Overflow overflow;
  OverflowSlab spare;
  overflow.add({tag("older"), 1, RecordKind::Point}, 0);
  const Overflow::Room room = overflow.needed_room();
  overflow.add({tag("newer than the room"), 1, RecordKind::Point}, 0);
  EXPECT_EQ(overflow.exchange(spare, room), Overflow::Exchanged::NoRoom);
  EXPECT_TRUE(spare.empty());
  EXPECT_EQ(take(overflow).size(), 2u);
}

TEST(Overflow, KeepsItsCellsIfThereAreMoreThanThereIsRoomFor) {
  Overflow overflow;
  OverflowSlab spare;
  for (int i = 0; i < 100; ++i) tag(("crowd " + std::to_string(i)).c_str());
  overflow.add({tag("crowd 0"), 1, RecordKind::Point}, 0);
  const Overflow::Room room = overflow.needed_room();
  for (int i = 0; i < 100; ++i)
    overflow.add({tag(("crowd " + std::to_string(i)).c_str()), 1, RecordKind::Point}, 0);
  EXPECT_EQ(overflow.exchange(spare, room), Overflow::Exchanged::NoRoom);
  EXPECT_EQ(take(overflow).size(), 100u);
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
  std::string pdu;
  wire::append_batch(pdu, 1, 1, {}, body);
  wire::Batch batch;
  is_taken &= wire::decode_batch(std::string_view(pdu).substr(wire::kHeaderBytes), batch);
}

// After each instruction of the processor.
TEST(Overflow, CanBeReadWhereverAHandlerInterruptsIt) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
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
TEST(Overflow, IsNoCancellationPointWhereItWaits) {
  Overflow overflow;
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
TEST(Overflow, ReleasesNothingThatItsOwnerDoesNotHold) {
  Overflow overflow;
  overflow.add({tag("a"), 1, RecordKind::Point}, 0);
  overflow.release_for_exit();
  EXPECT_EQ(take(overflow).size(), 1u);
}

}  // namespace
}  // namespace pcp::trace::client
