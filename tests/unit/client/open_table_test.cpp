// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/open_table.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {
namespace {

using Ref = OpenTable::Ref;

struct OpenTableTest : testing::Test {
  OpenEntries entries;
  OpenTable table{entries};
  OpenTable other{entries};  // another thread's
  const Tag* tag = intern_tag("open");
  Moment clock = 0;

  Moment tick() { return clock += 2; }
  static std::vector<Moment> open_in(OpenTable& table) {
    std::vector<Moment> found;
    table.for_each([&](const Tag*, Moment begun) { found.push_back(begun); });
    std::sort(found.begin(), found.end());
    return found;
  }
  std::uint64_t counted() const {
    std::uint64_t sum = 0;
    entries.for_each_counted([&](const Tag&, std::uint64_t open) { sum += open; });
    return sum;
  }
};

TEST_F(OpenTableTest, OverlappingOnesUseEntriesAgain) {
  std::set<Ref> refs;
  std::vector<std::pair<Ref, Moment>> open;
  for (int i = 0; i < 100'000; ++i) {
    const Moment now = tick();
    open.emplace_back(table.enter(tag, now), now);
    refs.insert(open.back().first);
    if (open.size() < 10) continue;
    const auto [ref, begun] = open.front();
    open.erase(open.begin());
    table.leave(tag, {begun, ref});
  }
  EXPECT_EQ(open_in(table).size(), open.size());
  EXPECT_LE(refs.size(), 64U);
}

TEST_F(OpenTableTest, TheSecondEndOfACopyDoesNothing) {
  const Ref ref = table.enter(tag, 10);
  table.leave(tag, {10, ref});
  const Ref next = table.enter(tag, 20);
  ASSERT_EQ(next, ref);
  table.leave(tag, {10, ref});
  other.leave(tag, {10, ref});
  EXPECT_EQ(open_in(table), std::vector<Moment>{20});
}

TEST_F(OpenTableTest, AnotherThreadMayEndAndItsEntryIsUsedAgain) {
  std::set<Ref> refs;
  for (int i = 0; i < 10'000; ++i) {
    const Moment now = tick();
    const Ref ref = table.enter(tag, now);
    refs.insert(ref);
    other.leave(tag, {now, ref});
  }
  EXPECT_TRUE(open_in(table).empty());
  EXPECT_LE(refs.size(), 64U);
}

TEST_F(OpenTableTest, ABeginMayBeMovedToALaterMoment) {
  const Ref ref = table.enter(tag, 10);
  OpenTable::begin_later(ref, 30);
  EXPECT_EQ(open_in(table), std::vector<Moment>{30});
  OpenTable::begin_later(OpenTable::kNoRef, 40);
}

TEST_F(OpenTableTest, CountsWhatHasNoRoom) {
  const Tag* counted_tag = intern_tag("only counted");
  std::vector<std::pair<Ref, Moment>> open;
  for (std::uint32_t i = 0; i < OpenTable::kMostEntries + 1000; ++i) {
    const Moment now = tick();
    open.emplace_back(table.enter(counted_tag, now), now);
  }
  EXPECT_EQ(open_in(table).size(), OpenTable::kMostEntries);
  EXPECT_EQ(counted(), 1000U);
  EXPECT_EQ(entries.ever_counted(), 1000U);
  for (const auto& [ref, begun] : open) table.leave(counted_tag, {begun, ref});
  EXPECT_TRUE(open_in(table).empty());
  EXPECT_EQ(counted(), 0U);
  std::size_t found = 0;  // most free entries are found again
  for (std::uint32_t i = 0; i < OpenTable::kMostEntries; ++i)
    found += OpenTable::is_entry(table.enter(counted_tag, tick())) ? 1 : 0;
  EXPECT_GT(found, OpenTable::kMostEntries / 2);
}

TEST_F(OpenTableTest, WhatIsOnlyCountedIsNeverLessThanNone) {
  const std::uint64_t epoch = entries.count_without_entry(*tag);
  entries.count_without_entry(*tag);
  entries.uncount(*tag, epoch + 2);  // of another process
  EXPECT_EQ(counted(), 2U);
  for (int i = 0; i < 3; ++i) entries.uncount(*tag, epoch);
  EXPECT_EQ(counted(), 0U);
  entries.count_without_entry(*tag);
  EXPECT_EQ(counted(), 1U);
}

TEST_F(OpenTableTest, WhatWasCountedBeforeTheyWereClearedIsNothing) {
  const std::uint64_t before = entries.count_without_entry(*tag);
  entries.clear_counts();
  EXPECT_EQ(counted(), 0U);
  entries.count_without_entry(*tag);
  entries.uncount(*tag, before);
  EXPECT_EQ(counted(), 1U);
}

TEST_F(OpenTableTest, KnowsWhatMayHaveBegun) {
  const Moment by_counter = moment_by_counter();
  EXPECT_EQ(entries.may_have_begun(by_counter), by_counter != 0);  // 0: a processor without one
  EXPECT_TRUE(entries.may_have_begun(moment_by_clock()));
  for (const Moment moment : {Moment{0}, Moment{1}, ~Moment{0} >> 1, ~Moment{1} >> 1})
    EXPECT_FALSE(entries.may_have_begun(moment)) << moment;
}

TEST_F(OpenTableTest, AllTablesTogetherHaveALimit) {
  std::vector<std::unique_ptr<OpenTable>> tables;
  std::size_t open = 0;
  for (int i = 0; i < 6; ++i) {
    OpenTable& each = *tables.emplace_back(std::make_unique<OpenTable>(entries));
    for (std::uint32_t j = 0; j < OpenTable::kMostEntries; ++j) each.enter(tag, tick());
    open += open_in(each).size();
  }
  constexpr std::size_t kMost = OpenEntries::kMostBlocks * OpenEntries::kInBlock;
  EXPECT_LE(open, kMost);
  EXPECT_GE(open, kMost * 3 / 4);
  EXPECT_EQ(open + counted(), 6 * OpenTable::kMostEntries);
}

TEST_F(OpenTableTest, AnEntryIsFoundByItsNumber) {
  for (int i = 0; i < 1000; ++i) {
    const Ref ref = (i % 2 == 0 ? table : other).enter(tag, tick());
    OpenEntry* const entry = OpenTable::entry_at(ref);
    EXPECT_EQ(entries.find(entry->number), entry);
  }
  EXPECT_EQ(entries.find(100'000), nullptr);
  EXPECT_EQ(entries.find(~std::uint32_t{0}), nullptr);
}

// Recorders and their tables do the same.
TEST(OpenTable, OfAParentIsEmptyInAForkedChildAndTheParentKeepsItsOwn) {
  struct Both {
    OpenEntries entries;
    OpenTable table{entries};
  };
  void* const memory = allocate_wiped_memory(sizeof(Both));
  ASSERT_NE(memory, nullptr);
  Both& both = *new (memory) Both;
  const Tag* tag = intern_tag("parent's");
  std::vector<Ref> refs;
  for (Moment i = 2; i < 400; i += 2) refs.push_back(both.table.enter(tag, i));
  const pid_t child = ::fork();
  if (child == 0) {
    Both own;
    for (std::size_t i = 0; i < refs.size(); ++i) own.table.leave(tag, {2 * (i + 1), refs[i]});
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::size_t open = 0;
  both.table.for_each([&](const Tag*, Moment) { ++open; });
  EXPECT_EQ(open, refs.size());
}

// One thread begins transactions, others end them, and one reads the table.
TEST(OpenTable, IsRightAmongThreads) {
  static OpenEntries& entries = *new OpenEntries;
  static OpenTable& table = *new OpenTable(entries);
  constexpr int kEnders = 2;
  constexpr int kRounds = 30'000;
  struct Handed {
    std::atomic<Ref> ref{OpenTable::kNoRef};
    Moment begun = 0;
  };
  static std::array<Handed, kEnders> handed;
  static const std::array<const Tag*, 2> tags{intern_tag("even"), intern_tag("odd")};
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kEnders; ++i)
    threads.emplace_back([&, i] {
      OpenTable own(entries);
      Handed& mine = handed[static_cast<std::size_t>(i)];
      while (!ends) {
        const Ref ref = mine.ref.load(std::memory_order_acquire);
        if (ref == OpenTable::kNoRef) continue;
        own.leave(tags[0], {mine.begun, ref});
        mine.ref.store(OpenTable::kNoRef, std::memory_order_release);
      }
    });
  std::size_t mismatched = 0;
  threads.emplace_back([&] {
    while (!ends)
      table.for_each([&](const Tag* tag, Moment begun) {
        if (tag != tags[begun / 2 % 2]) ++mismatched;
      });
  });
  Moment now = 0;
  for (int i = 0; i < kRounds; ++i) {
    now += 2;
    const Moment begun = now;
    const Ref own = table.enter(tags[begun / 2 % 2], begun);
    for (Handed& other : handed) {
      if (other.ref.load(std::memory_order_acquire) != OpenTable::kNoRef) continue;
      now += 2;
      other.begun = now;
      other.ref.store(table.enter(tags[now / 2 % 2], now), std::memory_order_release);
    }
    table.leave(tags[0], {begun, own});
  }
  for (Handed& other : handed)
    while (other.ref.load(std::memory_order_acquire) != OpenTable::kNoRef)
      std::this_thread::yield();
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mismatched, 0U);
  std::size_t open = 0;
  table.for_each([&](const Tag*, Moment) { ++open; });
  EXPECT_EQ(open, 0U);
}

}  // namespace
}  // namespace pcp::trace::client
