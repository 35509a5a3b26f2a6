// SPDX-License-Identifier: LGPL-2.1-or-later
// The open transactions. Each begin enters its transaction into its thread's table, and the end
// removes it, on any thread. So the flusher can report what hangs while it hangs.
//
// A table and its later chunks lie in memory that the kernel wipes in a forked child: the parent's
// open transactions do not exist there, whichever process ends them.
//
// Room. Entries do not move, since open transactions know their addresses. The owner goes up
// through a run of free entries, and down again when an end undoes the last begin: nested
// transactions reuse the same few. When a run is used up, the slow path looks for the next run, and
// adds a chunk once most entries are taken. A begin without room is only counted, by tag.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "open/moment.hpp"
#include "platform/wiped_memory.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

class OpenTable;

struct alignas(32) OpenEntry {
  // 0: free. The tag is released before the moment and acquired after it: a reader that then still
  // sees the same moment has a matching pair. Another thread that closes the entry releases the 0,
  // and the owner acquires it before it uses the entry again.
  std::atomic<Moment> begun{0};
  std::atomic<const Tag*> tag{nullptr};
  const OpenTable* table = nullptr;
  std::uint32_t number = 0;  // among all entries of the process
  // The thread that began it, if captured. Orders nothing else: the thread that ends it got the
  // transaction from that thread.
  std::atomic<std::uint32_t> thread{0};
};

// The entries of all tables of a process, by number, and a count of the begins that got none.
// Thread: any.
class OpenEntries {
 public:
  static constexpr std::uint32_t kInBlock = 16;
  static constexpr std::uint32_t kMostBlocks = 16'384;  // 262,144 entries

  OpenEntries();

  // True if so many more blocks may be added, unless another thread adds some first.
  bool has_room(std::uint32_t blocks) const;

  // Adds these blocks, and numbers their entries. False if all tables together would have too many.
  bool add(OpenEntry* entries, std::uint32_t blocks);

  // Every entry has a lower number than this.
  std::uint32_t end_of_numbers() const { return taken_.load(std::memory_order_relaxed) * kInBlock; }

  // Null if no entry has this number.
  OpenEntry* find(std::uint32_t number) const;

  // Counts a begin without an entry. Gives the epoch for uncount(); 0 if there is no memory.
  std::uint64_t count_without_entry(const Tag& tag);

  // Counts such an end. Ignores an end from another process or from before clear_counts(), and
  // surplus ends, which only copies of a transaction make.
  void uncount(const Tag& tag, std::uint64_t epoch);

  void clear_counts();

  // True if a transaction of this process may have begun at that moment.
  bool may_have_begun(Moment moment) const;

  // Calls visit(tag, open transactions) for transactions that are only counted.
  template <typename Visit>
  void for_each_counted(Visit visit) const {
    const Counts* const counts = counts_.find();
    if (counts == nullptr) return;
    for (const Counted& each : *counts) {
      const std::uint64_t open = each.open.load(std::memory_order_acquire);
      if (open > 0) visit(*each.tag.load(std::memory_order_relaxed), open);
    }
  }

  // All begins that were only counted, ever.
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
  std::atomic<std::uint64_t> epoch_;     // of this process and its counts, odd; orders nothing else
  std::atomic<std::uint32_t> taken_{0};  // blocks; orders nothing else
  MadeWhenNeeded<Counts> counts_;
  std::atomic<std::uint64_t> ever_counted_{0};
};

// Thread: one owner enters; any thread may read, or remove.
class OpenTable {
 public:
  static constexpr std::uint32_t kMostEntries = 65'536;

  // The record of a begin: the address of an entry, or an odd epoch if it was only counted; 0:
  // none.
  using Ref = std::uint64_t;
  static constexpr Ref kNoRef = 0;

  // Marks of a transaction with a trace; see ThreadTrace. The table ignores them. A captured one
  // also has its captures' epoch in the highest 16 bits, which no program address uses.
  static constexpr Ref kHasTrace = 2;
  static constexpr Ref kIsAttached = 4;
  static constexpr Ref kIsCaptured = 8;
  static constexpr Ref kMarks = kHasTrace | kIsAttached | kIsCaptured;
  static constexpr unsigned kMarkBits = 4;  // with the lowest bit, set in an epoch
  static constexpr unsigned kEpochShift = 48;
  static Ref captured_in(std::uint32_t epoch) {
    return kIsCaptured | Ref{static_cast<std::uint16_t>(epoch)} << kEpochShift;
  }
  static std::uint16_t epoch_of(Ref ref) { return static_cast<std::uint16_t>(ref >> kEpochShift); }
  static Ref without_marks(Ref ref) { return ref & ~kMarks & ((Ref{1} << kEpochShift) - 1); }

  static bool is_entry(Ref ref) { return (ref & 1) == 0 && without_marks(ref) != kNoRef; }
  static OpenEntry* entry_at(Ref ref) { return reinterpret_cast<OpenEntry*>(without_marks(ref)); }

  explicit OpenTable(OpenEntries& all);

  // Thread: the owner's.
  Ref enter(const Tag* tag, Moment begun) {
    if (!has_run() && !find_room()) [[unlikely]]
      return count(tag);
    return enter_run(tag, begun);
  }

  // The same if has_run().
  bool has_run() const { return next_ != end_; }
  Ref enter_run(const Tag* tag, Moment begun) {
    OpenEntry* const entry = next_++;
    entry->tag.store(tag, std::memory_order_release);
    entry->begun.store(begun, std::memory_order_release);
    return reinterpret_cast<Ref>(entry);
  }
  void undo_enter_run() { (--next_)->begun.store(0, std::memory_order_relaxed); }

  // Moves the begin to a later moment. Requires: still open. Thread: the owner's.
  static void begin_later(Ref ref, Moment begun) {
    if (is_entry(ref)) entry_at(ref)->begun.store(begun, std::memory_order_release);
  }

  struct Begun {
    Moment moment = 0;  // 0: not open
    Ref ref = kNoRef;
  };

  // Closes the entry if it still holds this transaction. True if this call closed an entry. Only
  // the owner reuses entries, so it needs only a load and a store. Requires: a ref without marks.
  // Called on the calling thread's table.
  bool leave(const Tag* tag, Begun begun) {
    if (!is_entry(begun.ref)) [[unlikely]]
      return uncount(begun.ref, tag);
    auto* const entry = reinterpret_cast<OpenEntry*>(begun.ref);
    if (entry->table != this) [[unlikely]]
      return leave_other(*entry, begun.moment);
    if (entry->begun.load(std::memory_order_relaxed) != begun.moment) [[unlikely]]
      return false;
    entry->begun.store(0, std::memory_order_relaxed);
    if (entry + 1 == next_) next_ = entry;
    return true;
  }

  // Hides the open transactions from for_each(). They stay open for other uses, such as traces.
  // Thread: any.
  void clear();

  // True if for_each() would visit any. Thread: any.
  bool has_open();

  // Calls visit(tag, begun) for each open transaction. Thread: any.
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
  // A header before its entries.
  struct alignas(OpenEntry) Chunk {
    std::atomic<Chunk*> next{nullptr};  // released by the owner
    std::uint32_t size = 0;

    OpenEntry* begin() { return reinterpret_cast<OpenEntry*>(this + 1); }
    OpenEntry* end() { return begin() + size; }
  };
  struct First {
    Chunk chunk;
    std::array<OpenEntry, OpenEntries::kInBlock> entries;
  };
  static_assert(sizeof(First) == sizeof(Chunk) + OpenEntries::kInBlock * sizeof(OpenEntry));

  template <typename Visit>
  void for_each_entry(Visit visit) {
    for (Chunk* chunk = &first_.chunk; chunk != nullptr;
         chunk = chunk->next.load(std::memory_order_acquire))
      for (OpenEntry& entry : *chunk) visit(entry);
  }

  static bool leave_other(OpenEntry& entry, Moment begun);
  Ref count(const Tag* tag);
  bool uncount(Ref ref, const Tag* tag);

  bool find_room();
  bool search_on();
  bool find_run(OpenEntry* from);
  bool extend();
  bool add_chunk(Chunk& chunk, std::uint32_t size);

  OpenEntries& all_;
  OpenEntry* next_ = nullptr;  // run of free entries
  OpenEntry* end_ = nullptr;
  Chunk* chunk_ = nullptr;          // holds that run
  std::uint32_t size_ = 0;          // of all chunks
  bool in_round_ = true;            // the search began at the first chunk
  std::uint32_t found_ = 0;         // free entries found since then
  std::uint32_t not_searched_ = 0;  // begins that are only counted before the next search
  First first_;
};

using Begun = OpenTable::Begun;

// The identity of a transaction, which is open as long as its entry has its moment.
struct OpenTransaction {
  const Tag* tag = nullptr;
  Begun begun;
};

}  // namespace pcp::trace::client
