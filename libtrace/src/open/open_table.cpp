// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/open_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "platform/guards.hpp"
#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {
namespace {

// If a search finds at most this part free, the table grows, or pauses searching: so a begin pays
// for a few entries on average.
constexpr std::uint32_t kWorthKeeping = 4;  // a quarter
constexpr std::uint32_t kWorthSearching = 64;

// Without enough free entries, a search follows only after size / kSearchParts counted begins.
constexpr std::uint32_t kSearchParts = 64;

// Low bits of an epoch, below the process id: room for 2^20 clears of the counts, in kEpochStep.
constexpr unsigned kEpochBits = 24;
constexpr std::uint64_t kEpochStep = std::uint64_t{1} << OpenTable::kMarkBits;

}  // namespace

OpenEntries::OpenEntries()
    : blocks_(static_cast<Blocks*>(allocate_wiped_memory(sizeof(Blocks)))),
      epoch_(static_cast<std::uint64_t>(::getpid()) << kEpochBits | 1) {}

bool OpenEntries::has_room(std::uint32_t blocks) const {
  return blocks_ != nullptr && taken_.load(std::memory_order_relaxed) + blocks <= kMostBlocks;
}

bool OpenEntries::add(OpenEntry* entries, std::uint32_t blocks) {
  std::uint32_t taken = taken_.load(std::memory_order_relaxed);
  do {
    if (blocks_ == nullptr || taken + blocks > kMostBlocks) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + blocks, std::memory_order_relaxed));
  for (std::uint32_t i = 0; i < blocks * kInBlock; ++i) entries[i].number = taken * kInBlock + i;
  for (std::uint32_t i = 0; i < blocks; ++i)
    (*blocks_)[taken + i].store(entries + i * kInBlock, std::memory_order_release);
  return true;
}

OpenEntry* OpenEntries::find(std::uint32_t number) const {
  if (blocks_ == nullptr || number >= kMostBlocks * kInBlock) return nullptr;
  OpenEntry* const block = (*blocks_)[number / kInBlock].load(std::memory_order_acquire);
  return block != nullptr ? block + number % kInBlock : nullptr;
}

std::uint64_t OpenEntries::count_without_entry(const Tag& tag) {
  Counts* const counts = counts_.find_or_make();
  if (counts == nullptr || tag.id >= kMaxTags) return 0;
  const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
  Counted& counted = (*counts)[tag.id];
  counted.tag.store(&tag, std::memory_order_relaxed);
  counted.open.fetch_add(1, std::memory_order_release);
  ever_counted_.fetch_add(1, std::memory_order_relaxed);
  return epoch;
}

void OpenEntries::uncount(const Tag& tag, std::uint64_t epoch) {
  if (epoch != epoch_.load(std::memory_order_relaxed)) return;
  std::atomic<std::uint64_t>& open = (*counts_.find())[tag.id].open;
  std::uint64_t before = open.load(std::memory_order_relaxed);
  while (before > 0 && !open.compare_exchange_weak(before, before - 1, std::memory_order_release)) {
  }
}

void OpenEntries::clear_counts() {
  Counts* const counts = counts_.find();
  if (counts == nullptr) return;
  epoch_.fetch_add(kEpochStep, std::memory_order_relaxed);
  for (Counted& each : *counts) each.open.store(0, std::memory_order_relaxed);
}

bool OpenEntries::may_have_begun(Moment moment) const {
  if (moment == 0) return false;  // the counter's reading on a processor without one
  return (moment & 1) != 0 ? first_ns_ <= moment && moment <= moment_by_clock()
                           : first_tick_ <= moment && moment <= moment_by_counter();
}

OpenTable::OpenTable(OpenEntries& all) : all_(all) {
  chunk_ = &first_.chunk;
  next_ = end_ = chunk_->begin();
  add_chunk(first_.chunk, OpenEntries::kInBlock);
}

// Released for the owner, who acquires it in find_run(): this thread's reads of the entry and of
// its notes (span_notes.hpp) come before the next transaction there.
bool OpenTable::leave_other(OpenEntry& entry, Moment begun) {
  return entry.begun.compare_exchange_strong(begun, 0, std::memory_order_release,
                                             std::memory_order_relaxed);
}

[[gnu::cold]] OpenTable::Ref OpenTable::count(const Tag* tag) {
  return all_.count_without_entry(*tag);
}

[[gnu::cold]] bool OpenTable::uncount(Ref ref, const Tag* tag) {
  if (ref != kNoRef) all_.uncount(*tag, ref);
  return false;
}

void OpenTable::clear() {
  for_each_entry([](OpenEntry& entry) { entry.tag.store(nullptr, std::memory_order_relaxed); });
}

bool OpenTable::has_open() {
  bool any = false;
  for_each([&any](const Tag*, Moment) { any = true; });
  return any;
}

// Finds the next run of free entries, or makes one. False if there is none.
bool OpenTable::find_room() {
  if (not_searched_ > 0) {
    --not_searched_;
    return false;
  }
  for (int rounds = 0; rounds < 2; ++rounds) {
    if (search_on()) return true;
    if (in_round_ && found_ * kWorthKeeping <= size_ && extend()) return true;
    if (in_round_ && found_ * kWorthSearching <= size_) break;
    in_round_ = true;
    found_ = 0;
    chunk_ = &first_.chunk;
    end_ = chunk_->begin();
  }
  in_round_ = false;
  not_searched_ = size_ / kSearchParts;
  return false;
}

// Searches from the end of the used run to the end of the last chunk.
bool OpenTable::search_on() {
  if (find_run(end_)) return true;
  while (Chunk* const next = chunk_->next.load(std::memory_order_relaxed)) {
    chunk_ = next;
    if (find_run(chunk_->begin())) return true;
  }
  return false;
}

bool OpenTable::find_run(OpenEntry* from) {
  const auto is_free = [](const OpenEntry& entry) {
    return entry.begun.load(std::memory_order_acquire) == 0;  // pairs with leave_other()
  };
  next_ = std::find_if(from, chunk_->end(), is_free);
  end_ = std::find_if_not(next_, chunk_->end(), is_free);
  found_ += static_cast<std::uint32_t>(end_ - next_);
  return next_ != end_;
}

// Doubles the table, as far as there is room. Requires: the search has reached the end of the last
// chunk.
bool OpenTable::extend() {
  std::uint32_t size = std::min(std::max(size_, OpenEntries::kInBlock), kMostEntries - size_);
  while (size >= OpenEntries::kInBlock && !all_.has_room(size / OpenEntries::kInBlock)) size /= 2;
  if (size < OpenEntries::kInBlock) return false;
  const ErrnoStays errno_stays;
  void* const memory = allocate_wiped_memory(sizeof(Chunk) + size * sizeof(OpenEntry));
  if (memory == nullptr) return false;
  auto* const chunk = new (memory) Chunk;
  for (std::uint32_t i = 0; i < size; ++i) new (chunk->begin() + i) OpenEntry;
  if (!add_chunk(*chunk, size)) return false;
  chunk_->next.store(chunk, std::memory_order_release);
  chunk_ = chunk;
  next_ = chunk->begin();
  end_ = chunk->end();
  in_round_ = false;
  return true;
}

bool OpenTable::add_chunk(Chunk& chunk, std::uint32_t size) {
  if (!all_.add(chunk.begin(), size / OpenEntries::kInBlock)) return false;
  chunk.size = size;
  size_ += size;
  for (OpenEntry& entry : chunk) entry.table = this;
  return true;
}

}  // namespace pcp::trace::client
