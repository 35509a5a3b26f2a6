// SPDX-License-Identifier: LGPL-2.1-or-later
// The transactions that are open: each begin enters its own into its thread's table, and whoever
// ends it takes it out. So the flusher can tell what hangs while it hangs.
//
// A table lies in memory that the kernel wipes in a forked child, as do its later chunks: what the
// parent had open is nothing to the child, whichever of the two ends it.
//
// Room. Entries stay where they are, since open transactions know their addresses. The owner goes
// up through a run of free ones, and comes down again with each end that undoes the last begin: so
// nested transactions use the same few for ever. Where a run is used up the slow path looks for the
// next one between those that are open, and makes more room once most of them are. A begin for
// which there is no room is only counted, by tag.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/clock.hpp"
#include "record/made_when_needed.hpp"
#include "record/tag_registry.hpp"

namespace pcp::trace::client {

class OpenTable;

struct alignas(32) OpenEntry {
  // 0: free. The tag is released before the moment, and acquired after it: whoever then still sees
  // the same moment has seen a pair that belongs together.
  std::atomic<Moment> begun{0};
  std::atomic<const Tag*> tag{nullptr};
  const OpenTable* table = nullptr;
  std::uint32_t number = 0;  // among all entries of the process
  // That began it, if it is captured. Whoever ends it was given it by that thread.
  std::atomic<std::uint32_t> thread{0};
};

// What the tables of a process share. Thread: any.
class OpenRoom {
 public:
  static constexpr std::uint32_t kInBlock = 16;
  static constexpr std::uint32_t kMostBlocks = 16'384;  // 262,144 entries

  OpenRoom();

  // Whether so many more may be numbered, unless another thread is faster.
  bool has(std::uint32_t blocks) const;

  // Gives so many entries their numbers. False if all tables together would have too many.
  bool number(OpenEntry* entries, std::uint32_t blocks);

  // Null if no entry has this number.
  OpenEntry* entry(std::uint32_t number) const;

  // Counts a begin without an entry. Gives what its end has to say; 0 if there is no memory for it.
  std::uint64_t count(const Tag& tag);

  // Counts such an end. One that belongs to another process, or to a time before clear_counts(), is
  // none; nor is one too many, which only copies make.
  void uncount(const Tag& tag, std::uint64_t epoch);

  void clear_counts();

  // Whether a transaction of this process may have begun then.
  bool may_have_begun(Moment moment) const;

  // Calls visit(tag, open transactions) for those that are only counted.
  template <typename Visit>
  void for_each_counted(Visit visit) const {
    const Counts* const counts = counts_.find();
    if (counts == nullptr) return;
    for (const Counted& each : *counts) {
      const std::uint64_t open = each.open.load(std::memory_order_acquire);
      if (open > 0) visit(*each.tag.load(std::memory_order_relaxed), open);
    }
  }

  // Begins that were ever only counted.
  std::uint64_t ever_counted() const { return ever_counted_.load(std::memory_order_relaxed); }

 private:
  struct Counted {
    std::atomic<const Tag*> tag;
    std::atomic<std::uint64_t> open;  // released after the tag
  };
  using Counts = std::array<Counted, kMaxTags>;                     // by the tag's id
  using Blocks = std::array<std::atomic<OpenEntry*>, kMostBlocks>;  // released when numbered

  Blocks* const blocks_;  // null: there was no memory
  const Moment first_tick_ = moment_by_counter();
  const Moment first_ns_ = moment_by_clock();
  std::atomic<std::uint64_t> epoch_;     // of this process and its counts, odd; stands for itself
  std::atomic<std::uint32_t> taken_{0};  // of them; stands for itself
  MadeWhenNeeded<Counts> counts_;
  std::atomic<std::uint64_t> ever_counted_{0};
};

// Thread: one owner enters; any thread may look, or take out.
class OpenTable {
 public:
  static constexpr std::uint32_t kMostEntries = 65'536;

  // Where a begin has left its trace, as a number that fits into a transaction's memory: the
  // address of an entry, or, odd, that it was only counted; 0: nowhere.
  using Place = std::uint64_t;
  static constexpr Place kNowhere = 0;

  // Marks of a transaction that has to do with a trace; see ThreadTrace. The table knows none. One
  // that is captured also has the epoch of its places in the highest 16 bits, which no address of a
  // program uses.
  static constexpr Place kHasTrace = 2;
  static constexpr Place kIsAttached = 4;
  static constexpr Place kIsCaptured = 8;
  static constexpr Place kMarks = kHasTrace | kIsAttached | kIsCaptured;
  static constexpr unsigned kMarkBits = 4;  // with the lowest, of a place that was only counted
  static constexpr unsigned kEpochShift = 48;
  static Place captured_in(std::uint32_t epoch) {
    return kIsCaptured | Place{static_cast<std::uint16_t>(epoch)} << kEpochShift;
  }
  static std::uint16_t epoch_of(Place place) {
    return static_cast<std::uint16_t>(place >> kEpochShift);
  }
  static Place without_marks(Place place) {
    return place & ~kMarks & ((Place{1} << kEpochShift) - 1);
  }

  static bool is_entry(Place place) { return (place & 1) == 0 && without_marks(place) != kNowhere; }
  static OpenEntry* entry_at(Place place) {
    return reinterpret_cast<OpenEntry*>(without_marks(place));
  }

  explicit OpenTable(OpenRoom& room);

  // Thread: the owner's.
  Place enter(const Tag* tag, Moment begun) {
    if (!has_run() && !find_room()) [[unlikely]]
      return count(tag);
    return enter_run(tag, begun);
  }

  // The same where there is a run of free entries.
  bool has_run() const { return next_ != end_; }
  Place enter_run(const Tag* tag, Moment begun) {
    OpenEntry* const entry = next_++;
    entry->tag.store(tag, std::memory_order_release);
    entry->begun.store(begun, std::memory_order_release);
    return reinterpret_cast<Place>(entry);
  }

  // It has begun a little later. Requires: it is open. Thread: the owner's.
  static void begin_later(Place place, Moment begun) {
    if (is_entry(place)) entry_at(place)->begun.store(begun, std::memory_order_release);
  }

  // Takes out what began then (a place without marks), or nothing if that was taken out already.
  // The owner is the only one that reuses entries, so it needs no more than to look and to store.
  // Called on the table of the calling thread. True if it was an entry, and this took it out.
  bool leave(Place place, const Tag* tag, Moment begun) {
    if (!is_entry(place)) [[unlikely]]
      return uncount(place, tag);
    auto* const entry = reinterpret_cast<OpenEntry*>(place);
    if (entry->table != this) [[unlikely]]
      return leave_other(*entry, begun);
    if (entry->begun.load(std::memory_order_relaxed) != begun) [[unlikely]]
      return false;
    entry->begun.store(0, std::memory_order_relaxed);
    if (entry + 1 == next_) next_ = entry;
    return true;
  }

  // Nobody is shown what is open now; for what else it is of use, such as traces, it stays so until
  // it ends. Thread: any.
  void clear();

  // Whether any is open. Thread: any.
  bool any();

  // Calls visit(tag, begun) for what is open. Thread: any.
  template <typename Visit>
  void for_each(Visit visit) {
    for_each_entry([&](OpenEntry& entry) {
      const Moment begun = entry.begun.load(std::memory_order_acquire);
      if (begun == 0) return;
      const Tag* const tag = entry.tag.load(std::memory_order_acquire);
      if (tag != nullptr && entry.begun.load(std::memory_order_relaxed) == begun) visit(tag, begun);
    });
  }

 private:
  // A header in front of its entries.
  struct alignas(OpenEntry) Chunk {
    std::atomic<Chunk*> next{nullptr};  // released by the owner
    std::uint32_t size = 0;

    OpenEntry* begin() { return reinterpret_cast<OpenEntry*>(this + 1); }
    OpenEntry* end() { return begin() + size; }
  };
  struct First {
    Chunk chunk;
    std::array<OpenEntry, OpenRoom::kInBlock> entries;
  };
  static_assert(sizeof(First) == sizeof(Chunk) + OpenRoom::kInBlock * sizeof(OpenEntry));

  template <typename Visit>
  void for_each_entry(Visit visit) {
    for (Chunk* chunk = &first_.chunk; chunk != nullptr;
         chunk = chunk->next.load(std::memory_order_acquire))
      for (OpenEntry& entry : *chunk) visit(entry);
  }

  static bool leave_other(OpenEntry& entry, Moment begun);
  Place count(const Tag* tag);
  bool uncount(Place place, const Tag* tag);

  bool find_room();
  bool search_on();
  bool find_run(OpenEntry* from);
  bool extend();
  bool number(Chunk& chunk, std::uint32_t size);

  OpenRoom& room_;
  OpenEntry* next_ = nullptr;  // the run of free ones
  OpenEntry* end_ = nullptr;
  Chunk* chunk_ = nullptr;          // in which that run is
  std::uint32_t size_ = 0;          // of all chunks
  bool in_round_ = true;            // the search began at the first chunk
  std::uint32_t found_ = 0;         // free ones, since then
  std::uint32_t not_searched_ = 0;  // begins that are only counted before the next search
  First first_;
};

}  // namespace pcp::trace::client
