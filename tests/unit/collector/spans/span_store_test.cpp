// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/span_store.hpp"

#include <malloc.h>

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collector/spans/span_text.hpp"

namespace pcp::trace::agent {
namespace {

StoredSpan span_at(CaptureBits bits, std::uint64_t id, std::size_t text = 0) {
  StoredSpan span;
  span.capture_bits = bits;
  span.span = id;
  span.reason.assign(text, 'x');
  return span;
}

// The spans that a reader gets, and the number of those that it has missed.
struct Got {
  std::vector<std::uint64_t> spans;
  std::uint64_t missed = 0;
  bool operator==(const Got&) const = default;
};

Got take(SpanStore& store, SpanStore::Cursor cursor, std::size_t most = 1000) {
  const SpanReading reading = store.read(cursor, most);
  Got got;
  for (const auto& entry : reading.entries) got.spans.push_back(entry.span->span);
  got.missed = reading.missed(reading.entries.size());
  store.advance(cursor, reading.after(reading.entries.size()));
  return got;
}

constexpr std::size_t kPlenty = 1u << 20;

// Adds spans with the ids from 1 to `count`.
void add(SpanStore& store, std::uint64_t count, const char* owner = "alice") {
  for (std::uint64_t id = 1; id <= count; ++id) store.add(span_at(1, id), owner);
}

// Drops all that nobody waits for. Gives the number of steps that had more to do.
int sweep(SpanStore& store) {
  int steps = 0;
  while (store.sweep()) ++steps;
  return steps;
}

TEST(SpanStoreTest, KeepsCapturesApart) {
  SpanStore store(kPlenty);
  const auto zero = store.open_cursor(0);
  const auto five = store.open_cursor(5);
  store.add(span_at(0b000001, 1), "alice");
  store.add(span_at(0b100000, 2), "alice");
  store.add(span_at(0b100001, 3), "alice");
  const std::size_t before = store.bytes();
  store.add(span_at(0b000010, 4), "alice");  // for no cursor
  EXPECT_EQ(store.bytes(), before);
  EXPECT_EQ(store.waiting(zero), 2u);
  EXPECT_EQ(take(store, zero), (Got{{1, 3}, 0}));
  EXPECT_EQ(take(store, five), (Got{{2, 3}, 0}));
}

TEST(SpanStoreTest, GivesNoMoreThanIsWanted) {
  SpanStore store(kPlenty);
  const auto cursor = store.open_cursor(0);
  add(store, 5);
  EXPECT_EQ(take(store, cursor, 2), (Got{{1, 2}, 0}));
  const SpanReading reading = store.read(cursor, 2);
  store.advance(cursor, reading.after(1));  // the second did not fit
  EXPECT_EQ(take(store, cursor, 2), (Got{{4, 5}, 0}));
}

TEST(SpanStoreTest, ForgetsWhatAllHaveRead) {
  SpanStore store(kPlenty);
  const auto fast = store.open_cursor(0);
  const auto slow = store.open_cursor(0);
  add(store, 1000);
  take(store, fast);
  EXPECT_GT(store.bytes(), 0u);
  take(store, slow);
  EXPECT_EQ(store.bytes(), 0u);
}

TEST(SpanStoreTest, ForgetsBitByBitWhatNobodyWaitsForAnyMore) {
  SpanStore store(64 * kPlenty);
  const auto gone = store.open_cursor(0);
  add(store, 5000);
  store.close_cursor(gone);
  EXPECT_GT(store.bytes(), 0u);
  EXPECT_GT(sweep(store), 1);
  EXPECT_EQ(store.bytes(), 0u);
  EXPECT_EQ(store.overwritten(), 0u);
}

TEST(SpanStoreTest, DropsTheOldestAndCountsThem) {
  SpanStore store(20'000);
  const auto cursor = store.open_cursor(0);
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    store.add(span_at(1, id), "alice");
    EXPECT_LE(store.bytes(), 20'000u);
  }
  const Got got = take(store, cursor);
  EXPECT_EQ(got.spans.back(), 1000u);
  EXPECT_GT(got.spans.size(), 10u);
  EXPECT_EQ(got.spans.size() + got.missed, 1000u);
  EXPECT_EQ(store.overwritten(), got.missed);
  EXPECT_EQ(got.spans.front(), got.missed + 1);
}

// A fetch packs spans between read and advance.
TEST(SpanStoreTest, ASpanThatGoesWhileItIsReadIsNotOverwrittenIfItIsTaken) {
  SpanStore store(20'000);
  const auto cursor = store.open_cursor(0);
  add(store, 20);
  const SpanReading reading = store.read(cursor, 20);
  add(store, 1000);
  store.advance(cursor, reading.after(5));
  const Got rest = take(store, cursor);
  EXPECT_EQ(rest.missed, 1020u - 5 - rest.spans.size());
  EXPECT_EQ(store.overwritten(), rest.missed);
}

TEST(SpanStoreTest, ASpanThatGoesWhileItIsReadIsOverwrittenIfAnotherHasNotHadIt) {
  SpanStore store(20'000);
  const auto first = store.open_cursor(0);
  const auto second = store.open_cursor(0);
  add(store, 20);
  EXPECT_EQ(take(store, second, 10).spans.size(), 10u);
  const SpanReading reading = store.read(first, 20);
  add(store, 1000);
  store.advance(first, reading.after(20));
  take(store, first);
  const Got rest = take(store, second);
  EXPECT_EQ(rest.missed, 1010 - rest.spans.size());
  EXPECT_EQ(store.overwritten(), rest.missed);
}

TEST(SpanStoreTest, ASpanThatGoesWhileItIsReadIsOverwrittenIfItIsNeverTaken) {
  for (const bool ends : {false, true}) {
    SpanStore store(20'000);
    const auto cursor = store.open_cursor(0);
    add(store, 20);
    store.read(cursor, 20);
    add(store, 1000);
    const SpanReading again = store.read(cursor, 1000);
    EXPECT_EQ(store.overwritten(), 1020 - again.entries.size());
    add(store, 1000);
    const std::size_t left = store.waiting(cursor);
    if (ends)
      store.close_cursor(cursor);
    else
      store.advance(cursor, again.after(0));
    EXPECT_EQ(store.overwritten(), 2020 - left);
  }
}

TEST(SpanStoreTest, AFloodOfOneUserLeavesOthersTheirs) {
  SpanStore store(40'000);
  const auto cursor = store.open_cursor(0);
  add(store, 20, "bob");
  for (std::uint64_t id = 100; id < 10'100; ++id) store.add(span_at(1, id), "mallory");
  const Got got = take(store, cursor);
  ASSERT_GT(got.spans.size(), 20u);
  for (std::uint64_t id = 1; id <= 20; ++id) EXPECT_EQ(got.spans[id - 1], id);
  EXPECT_EQ(got.spans.size() + got.missed, 10'020u);
}

TEST(SpanStoreTest, GivesMemoryBackWhenItMayHaveLess) {
  SpanStore store(kPlenty);
  const auto cursor = store.open_cursor(0);
  add(store, 1000);
  store.set_most_bytes(10'000);
  sweep(store);
  EXPECT_LE(store.bytes(), 10'000u);
  const Got got = take(store, cursor);
  EXPECT_EQ(got.spans.size() + got.missed, 1000u);
}

// Zero under the address sanitizer, which has a heap of its own.
std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Texts that are appended to have more room than they need.
TEST(SpanStoreTest, TakesNoMoreMemoryThanItSays) {
  constexpr std::size_t kKeptByLibc = 64 * 1024;  // a few freed pieces of each size
  SpanStore store(4 * kPlenty);
  const auto cursor = store.open_cursor(0);
  const std::size_t before = heap_in_use();
  for (std::uint64_t id = 1; store.overwritten() == 0; ++id) {
    StoredSpan span = span_at(1, id, id % 3 * 20);
    for (int i = 0; i < 32; ++i)
      append_attribute(span.attributes, "key" + std::to_string(i), std::string(id % 50, 'x'));
    append_link(span.links, 1, 2, id);
    store.add(std::move(span), "alice");
    ASSERT_LE(heap_in_use(), before + store.bytes() + kKeptByLibc) << id;
  }
  EXPECT_GT(store.waiting(cursor), 0u);
}

TEST(SpanStoreTest, ASpanThatIsTooBigForItIsMissed) {
  SpanStore store(1000);
  const auto cursor = store.open_cursor(0);
  store.add(span_at(1, 1, 5000), "alice");
  EXPECT_EQ(store.bytes(), 0u);
  EXPECT_EQ(take(store, cursor), (Got{{}, 1}));
}

// Whatever happens, each cursor gets or misses each span that entered after its begin, once and in
// order.
class StoreUnderLoad : public testing::TestWithParam<unsigned> {};

struct Reader {
  SpanStore::Cursor cursor;
  std::uint64_t entered = 0;
  std::uint64_t got = 0;
  std::uint64_t missed = 0;
  std::uint64_t last = 0;
};

void read_some(SpanStore& store, Reader& reader, std::size_t most) {
  const Got got = take(store, reader.cursor, most);
  for (const std::uint64_t id : got.spans) {
    ASSERT_GT(id, reader.last);
    reader.last = id;
  }
  reader.got += got.spans.size();
  reader.missed += got.missed;
}

TEST_P(StoreUnderLoad, AccountsForEverySpanToEveryCursor) {
  std::mt19937 random(GetParam());
  SpanStore store(5'000 + random() % 100'000);
  std::vector<Reader> readers;
  std::uint64_t last_id = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t what = random() % 100;
    if (what < 80) {
      const auto bits = static_cast<CaptureBits>(random() & random() & 0b1111);
      for (Reader& reader : readers) reader.entered += bits >> reader.cursor->bit & 1;
      store.add(span_at(bits, ++last_id, random() % 300), std::to_string(random() % 5 % 3));
      ASSERT_LE(store.bytes(), store.most_bytes());
    } else if (what < 83 && readers.size() < 10) {
      readers.push_back({store.open_cursor(random() % 4)});
    } else if (readers.empty()) {
      continue;
    } else if (what < 85) {
      const std::size_t goes = random() % readers.size();
      store.close_cursor(readers[goes].cursor);
      readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(goes));
    } else if (what < 87) {
      const std::size_t bit = random() % 4;
      const std::uint64_t count = random() % 10;
      store.note_missed(bit, count);
      for (Reader& reader : readers)
        if (reader.cursor->bit == bit) reader.entered += count;
    } else if (what < 88) {
      store.sweep();
    } else {
      read_some(store, readers[random() % readers.size()], random() % 50);
    }
  }
  std::uint64_t got = 0;
  for (Reader& reader : readers) {
    read_some(store, reader, 1'000'000);
    EXPECT_EQ(reader.got + reader.missed, reader.entered);
    got += reader.got;
    store.close_cursor(reader.cursor);
  }
  EXPECT_GT(got, 0u);
  sweep(store);
  EXPECT_EQ(store.bytes(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreUnderLoad, testing::Range(1u, 21u));

}  // namespace
}  // namespace pcp::trace::agent
