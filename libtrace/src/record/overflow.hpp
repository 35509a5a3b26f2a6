// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a thread's calls go when its queue is full: cells, one per tag and kind, that add up the
// same numbers on the spot. Slower than the queue, never lossy; only the histogram does not see
// them.
//
// A thread has one slab of cells. Its flag is held by whoever touches it: by the owner for one
// cell, by the flusher while it exchanges the slab for an empty one, which is a few pointers. So
// the owner never waits for what the flusher does with the cells. The empty one is the flusher's
// spare: what it took from one thread serves the next, and neither allocates anything once all have
// their size.
//
// Order. While its cells are in use the owner puts nothing into its queue. When it sees by the
// number of slabs taken that they were taken it may go back to the queue: the flusher takes the
// cells before it takes anything that was queued after them. A slab remembers how long the queue
// was when its first cell was written, and the flusher first takes everything that was queued until
// then.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "record/record.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::client {

// What a thread has added up of one tag. Aborts come apart from the transactions that ended.
struct OverflowCell {
  const Tag* tag;
  RecordKind kind;
  Delta delta;
};

// The cells of one thread. Thread: whoever holds it.
class OverflowSlab {
 public:
  // Adds a record. False, with nothing changed, if there is no memory for a new tag's cell.
  bool add(const Record& record);

  // Hands over an OverflowCell for each tag and kind, in the order of their first records.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; i < size_; ++i)
      if (const OverflowCell cell = read(at(i)); !cell.delta.empty()) visit(cell);
  }

  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }

  // Forgets all cells. Keeps the memory of as many as 1,000 tags need.
  void clear();

  std::uint64_t position = 0;  // records queued before the first cell was written

  // Its lists are being made longer: nobody may look at it. For a signal handler of the thread that
  // does so.
  bool is_growing() const { return is_growing_ != 0; }

 private:
  // A kind is a RecordKind's number, or that with kNotFinite: a count of values that are also in
  // the count of the kind's own cell.
  using Kind = std::uint64_t;
  static constexpr Kind kNotFinite = 8;
  static constexpr Kind kKindMask = 15;

  struct Cell {
    const Tag* tag;
    Kind kind : 4;
    std::uint64_t count : 60;
    double sum;
    double min;
    double max;
    double last;
  };
  static_assert(sizeof(Cell) == 48);

  // Cells come in blocks, which stay where they are when there are more of them.
  static constexpr std::uint32_t kInBlock = 64;
  using Block = std::unique_ptr<Cell[]>;

  Cell& at(std::uint32_t number) const { return blocks_[number / kInBlock][number % kInBlock]; }
  OverflowCell read(const Cell& cell) const;
  Cell& find_or_make(const Tag* tag, Kind kind);

  // Gives the slot of index_ in which the cell is, or belongs. Requires: index_ has any.
  std::size_t slot_of(const Tag* tag, Kind kind) const;
  void grow_index();

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> index_;  // open addressing: a cell's number plus one, 0 is free
  std::uint32_t size_ = 0;            // cells in use
  bool has_nonfinite_ = false;
  volatile std::sig_atomic_t is_growing_ = 0;
};

class Overflow {
 public:
  // Adds a record. `queued` is how many records the owner has ever queued. False if there is no
  // memory for a new tag's cell. Thread: the owner's.
  bool add(const Record& record, std::uint64_t queued);

  // Tells whether the owner must go on using the cells to keep its records in order. Thread: the
  // owner's.
  bool in_use() const { return written_slab_ == slabs_taken_.load(std::memory_order_acquire); }

  // The owner will never run again, since a signal has interrupted it and the handler ends the
  // process: leaves its cells to the flusher if they can be read. Thread: the owner's, in the
  // handler.
  void release_for_exit() {
    if (owner_is_busy_ != 0 && !slab_.is_growing()) unlock();
  }

  // The rest is the flusher's. It takes the cells if anything was written: first what the owner had
  // queued before its first cell, then the slab, in exchange for an empty one.
  bool is_written() const { return written_.load(std::memory_order_acquire); }
  std::uint64_t queued_before() const { return slab_.position; }  // requires: is_written()

  // What has to be kept free for what the slab holds: so many cells, of tags below this id.
  struct Room {
    std::uint32_t cells = 0;
    std::uint32_t end_of_ids = 0;
  };
  Room needed_room() const {
    return {cells_.load(std::memory_order_relaxed) + kRoomForMore, end_of_tag_ids()};
  }

  // NoRoom: meanwhile there are more cells than that, or perhaps one of a newer tag. Busy: so is
  // the owner, and has lost its processor, most probably.
  enum class Exchanged { Yes, NoRoom, Busy };
  Exchanged exchange(OverflowSlab& empty, const Room& room);

  // The last exchange() found the owner busy: there is something left.
  bool was_busy() const { return was_busy_; }

 private:
  void lock();
  bool lock_without_waiting();
  bool try_lock() { return !busy_.exchange(true, std::memory_order_acquire); }
  void unlock() { busy_.store(false, std::memory_order_release); }

  // Cells that come meanwhile.
  static constexpr std::uint32_t kRoomForMore = 64;
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  std::atomic<bool> busy_{false};  // the flag: taken with acquire, given back with release
  bool was_busy_ = false;          // the flusher's
  volatile std::sig_atomic_t owner_is_busy_ = 0;  // with the flag or waiting for it; the owner's
  std::atomic<bool> written_{
      false};  // with its slab's position: released by add(), acquired by is_written()
  std::atomic<std::uint32_t> cells_{0};        // in the slab: a hint for the flusher
  std::atomic<std::uint64_t> slabs_taken_{0};  // released by the flusher, acquired by in_use()
  std::uint64_t written_slab_ = kNone;  // its number, in which the owner last wrote; the owner's
  OverflowSlab slab_;
};

}  // namespace pcp::trace::client
