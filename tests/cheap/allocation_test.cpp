// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap": a call for a known tag allocates nothing. And memory does not grow while no
// agent takes the records.
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "every_call.hpp"
#include "process/flusher.hpp"
#include "stress/test_agent.hpp"

// Replaces malloc and its kin by functions that count, and call the C library's.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace {

// Calls of malloc, free and the like by this thread.
constinit thread_local std::uint64_t heap_calls = 0;
// Bytes that all threads together have allocated and not freed.
constinit std::atomic<std::uint64_t> heap_bytes{0};

void* counted(void* memory) {
  ++heap_calls;
  if (memory != nullptr)
    heap_bytes.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

void forget(void* memory) {
  if (memory != nullptr)
    heap_bytes.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
}

}  // namespace

// operator new and delete of the C++ library call these, too.
extern "C" {
void* malloc(std::size_t bytes) { return counted(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) { return counted(__libc_calloc(count, bytes)); }
void* realloc(void* memory, std::size_t bytes) {
  forget(memory);
  return counted(__libc_realloc(memory, bytes));
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory != nullptr ? 0 : ENOMEM;
}
void free(void* memory) {
  ++heap_calls;
  forget(memory);
  __libc_free(memory);
}
}

namespace pcp::trace {
namespace {

struct Names {
  std::vector<std::string> texts;
  std::vector<pmtrace_handle> tags;

  explicit Names(int count) {
    for (int i = 0; i < count; ++i) texts.push_back("known tag " + std::to_string(i));
    for (const std::string& text : texts) tags.push_back(pmtrace_tag(text.c_str()));
  }
  void call_everything(int i) const {
    const auto which = static_cast<std::size_t>(i) % texts.size();
    trace::call_everything(tags[which], texts[which].c_str(), i);
  }
};

TEST(Allocations, OfANewTagAreCounted) {
  TestAgent agent;
  pmtracepoint("old");
  const std::uint64_t before = heap_calls;
  pmtracepoint("old");
  EXPECT_EQ(heap_calls, before);
  pmtracepoint("new");
  EXPECT_GT(heap_calls, before);
}

// Grows the queue, and the cells beside it, to their full size: fills the queue from different
// offsets in its first block. One more block remains possible: for a full queue whose two ends lie
// in partly filled blocks, which needs a slow flusher.
void outrun_the_flusher(const Names& names) {
  for (int times = 0; times < 20; ++times) {
    pmtrace_stats_t stats{};
    pmtrace_stats(&stats, sizeof stats);
    const std::uint64_t before = stats.merged;
    while (stats.merged < before + 10'000) {
      for (int i = 0; i < 1000; ++i) names.call_everything(i);
      pmtrace_stats(&stats, sizeof stats);
    }
    ASSERT_EQ(pmtrace_flush(60), 1);
    for (int i = 0; i < 10 + times; ++i) pmtracepoint(names.texts.front().c_str());
    ASSERT_EQ(pmtrace_flush(60), 1);
  }
}

void expect_no_allocations_for_known_tags() {
  constexpr int kRounds = 1'000'000;
  TestAgent agent;
  const Names names(2);
  ASSERT_NO_FATAL_FAILURE(outrun_the_flusher(names));
  const std::uint64_t before = heap_calls;
  for (int i = 0; i < kRounds; ++i) names.call_everything(i);
  EXPECT_LE(heap_calls, before + 1);
}

TEST(Allocations, AreNotMadeForKnownTags) { expect_no_allocations_for_known_tags(); }

TEST(Allocations, AreNotMadeForKnownTagsIfTheQueueIsAlwaysFull) {
  ::setenv("PCP_TRACE_QUEUE", "8", 1);
  expect_no_allocations_for_known_tags();
}

TEST(Allocations, AreNotMadeByLookingUpATagByItsLabels) {
  const pmtrace_label labels[] = {{"route", "/a b"}, {"city", "K\u00f6ln"}};
  const pmtrace_handle tag = pmtrace_tag_with("labelled", labels, 2);
  ASSERT_NE(tag, nullptr);
  const std::uint64_t before = heap_calls;
  EXPECT_EQ(pmtrace_tag_with("labelled", labels, 2), tag);
  EXPECT_EQ(heap_calls, before);
}

TEST(Allocations, AreNotMadeByTheCellsOfAThousandTags) {
  using namespace client;
  const Names names(1000);
  Overflow overflow;
  OverflowSlab spare;
  const auto pass = [&] {
    const std::uint64_t before = heap_calls;
    for (const pmtrace_handle tag : names.tags) overflow.add({tag, 1, RecordKind::Observe}, 0);
    const std::uint64_t made = heap_calls - before;
    EXPECT_EQ(overflow.exchange(spare, overflow.needed_room()), Overflow::Exchanged::Yes);
    spare.clear();
    return made;
  };
  for (int slab = 0; slab < 2; ++slab) EXPECT_GT(pass(), 0u);
  for (int slab = 0; slab < 2; ++slab) EXPECT_EQ(pass(), 0u);
}

// 36,000 flush intervals of 100 ms. In each of them a thread records more than its queue holds, and
// the queue is drained; nothing is ever sent.
TEST(Allocations, DoNotAddUpInAnHourWithoutAnAgent) {
  using namespace client;
  constexpr int kManyTags = 1000;
  constexpr std::uint64_t kInterval = 100'000'000;
  const Names names(kManyTags);
  SharedParts shared;
  Doorbell doorbell;
  Recorder recorder(shared, doorbell, 64);
  Pending pending;
  Drain drain(pending);
  std::uint64_t now = 0;
  std::uint64_t recorded = 0;
  const auto pass = [&](int intervals) {
    for (int i = 0; i < intervals; ++i, now += kInterval) {
      for (int call = 0; call < 100; ++call, ++recorded) {
        const auto which = recorded * 7 % kManyTags;
        recorder.record(names.tags[which], 1e-3 * static_cast<double>(recorded % 1009),
                        which % 2 == 0 ? RecordKind::Observe : RecordKind::Transact);
      }
      drain.drain(recorder, now);
    }
  };
  pass(36'000 / 2);
  const std::uint64_t after_half = heap_bytes.load();
  pass(36'000 / 2);
  EXPECT_EQ(heap_bytes.load(), after_half);

  std::uint64_t kept = 0;
  for (; !pending.empty(); pending.pop()) kept += pending.front().records();
  EXPECT_EQ(kept, recorded);
  EXPECT_GT(recorder.merged(), 0u);
}

}  // namespace
}  // namespace pcp::trace
