// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/overflow.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

const Tag* tag(const char* name) { return intern_tag(name); }

// What take() hands over, by tag and type.
std::map<std::pair<std::string, TraceType>, Delta> take(Overflow& overflow,
                                                        std::uint64_t* position = nullptr) {
  std::map<std::pair<std::string, TraceType>, Delta> cells;
  OverflowSlab spare;
  overflow.take(
      spare, [](std::size_t) {},
      [&](std::uint64_t p) {
        if (position != nullptr) *position = p;
      },
      [&](const OverflowCell& cell) {
        cells[{cell.tag->text(), cell.type}].merge(cell.delta);
      });
  return cells;
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
    EXPECT_EQ((cells[{"odd", type}].min), kInfinity);  // of none
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

// The flusher gives a thread the slab that it had from another one.
TEST(Overflow, FindsNothingOfOthersInItsSlab) {
  Overflow first;
  Overflow second;
  OverflowSlab spare;
  std::vector<std::string> seen;
  const auto take_from = [&](Overflow& overflow) {
    seen.clear();
    overflow.take(
        spare, [](std::size_t) {}, [](std::uint64_t) {},
        [&](const OverflowCell& cell) { seen.push_back(cell.tag->text()); });
    return seen;
  };
  first.add({tag("first"), std::nan(""), RecordKind::Observe}, 0);
  second.add({tag("second"), 1.0, RecordKind::Observe}, 0);
  EXPECT_EQ(take_from(first), std::vector<std::string>{"first"});
  EXPECT_EQ(take_from(second), std::vector<std::string>{"second"});
  second.add({tag("second"), 2.0, RecordKind::Observe}, 0);
  first.add({tag("third"), 3.0, RecordKind::Observe}, 0);
  EXPECT_EQ(take_from(second), std::vector<std::string>{"second"});
  EXPECT_EQ(take_from(first), std::vector<std::string>{"third"});
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

TEST(Overflow, IsInUseUntilTheFlusherTurnsToIt) {
  Overflow overflow;
  EXPECT_FALSE(overflow.in_use());
  overflow.add({tag("use"), 1.0, RecordKind::Observe}, 0);
  EXPECT_TRUE(overflow.in_use());
  take(overflow);
  EXPECT_FALSE(overflow.in_use());
}

TEST(Overflow, SaysHowMuchWasQueuedBeforeItsFirstCell) {
  Overflow overflow;
  std::uint64_t position = 0;
  overflow.add({tag("p"), 1.0, RecordKind::Observe}, 42);
  overflow.add({tag("p"), 1.0, RecordKind::Observe}, 42);
  take(overflow, &position);
  EXPECT_EQ(position, 42u);
  overflow.add({tag("p"), 1.0, RecordKind::Observe}, 50);
  take(overflow, &position);
  EXPECT_EQ(position, 50u);
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

// The owner may write a cell of a tag that nobody had heard of when the room was made.
TEST(Overflow, AsksForRoomAgainIfThereIsANewerTag) {
  Overflow overflow;
  OverflowSlab spare;
  overflow.add({tag("older"), 1, RecordKind::Point}, 0);
  std::uint32_t known = 0;
  int asked = 0;
  std::vector<std::string> seen;
  overflow.take(
      spare,
      [&](std::size_t) {
        known = end_of_tag_ids();
        if (asked++ == 0) overflow.add({tag("newer than the room"), 1, RecordKind::Point}, 0);
      },
      [](std::uint64_t) {},
      [&](const OverflowCell& cell) {
        EXPECT_LT(cell.tag->id, known);
        seen.push_back(cell.tag->text());
      });
  EXPECT_EQ(seen, (std::vector<std::string>{"older", "newer than the room"}));
  EXPECT_EQ(asked, 2);
}

// What a signal handler does that ends the process: a thread that was interrupted while it wrote a
// cell must not keep the flusher from the others.
TEST(Overflow, ReleasesNothingThatItsOwnerDoesNotHold) {
  Overflow overflow;
  overflow.add({tag("a"), 1, RecordKind::Point}, 0);
  overflow.release_for_exit();
  EXPECT_EQ(take(overflow).size(), 1u);
}

}  // namespace
}  // namespace pcp::trace::client
