// SPDX-License-Identifier: LGPL-2.1-or-later
// A thread's records when its queue is full: cells, one per tag and kind, that add up the same
// numbers on the spot. Slower than the queue, but loses nothing except histogram bins.
//
// A thread has one slab of cells, guarded by a flag. The owner holds it while it writes one cell;
// the flusher holds it while it exchanges the slab for an empty one (a few pointers). So the owner
// never waits while the flusher reads cells. The flusher's spare slab goes from thread to thread,
// without allocation once all slabs have their size.
//
// Order. While its cells are in use the owner queues nothing. When slabs_taken_ tells that they
// were taken, it may queue again: the flusher delivers the cells before later records of the queue.
// A slab remembers the queue's length at its first cell, and the flusher first takes all records
// queued before that.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "counts/queue_record.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::client {

// One thread's sums for a tag and kind.
struct OverflowCell {
  const Tag* tag;
  RecordKind kind;
  Delta delta;
};

// The cells of one thread. Thread: the flag's holder.
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

  // Forgets all cells. Keeps the memory of up to 1,024 cells.
  void clear();

  std::uint64_t position = 0;  // records queued before the first cell was written

  // True while its lists grow: do not read it. For a signal handler of the owner.
  bool is_growing() const { return is_growing_ != 0; }

 private:
  // A RecordKind's number, alone or with kNotFinite: a count of non-finite values, which the kind's
  // own cell also counts.
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

  // Cells lie in blocks, which never move.
  static constexpr std::uint32_t kInBlock = 64;
  using Block = std::unique_ptr<Cell[]>;

  Cell& at(std::uint32_t number) const { return blocks_[number / kInBlock][number % kInBlock]; }
  OverflowCell read(const Cell& cell) const;
  Cell& find_or_make(const Tag* tag, Kind kind);

  // Gives the slot of index_ that holds the cell, or will. Requires: index_ is not empty.
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

  // True if the owner must go on using the cells to keep its records in order. Thread: the owner's.
  bool is_in_use() const { return written_slab_ == slabs_taken_.load(std::memory_order_acquire); }

  // For a signal handler that ends the process: gives back the flag that the interrupted owner
  // held. Does nothing while the slab grows. Thread: the owner's, in the handler.
  void release_for_exit() {
    if (owner_is_busy_ != 0 && !slab_.is_growing()) unlock();
  }

  // Thread below: the flusher's. If anything was written, it takes what the owner queued before its
  // first cell, and then exchanges the slab for an empty one.
  bool is_written() const { return written_.load(std::memory_order_acquire); }
  std::uint64_t queued_before() const { return slab_.position; }  // requires: is_written()

  // Room to reserve for the slab: so many cells, of tags with lower ids than this.
  struct Room {
    std::uint32_t cells = 0;
    std::uint32_t end_of_ids = 0;
  };
  Room needed_room() const {
    return {cells_.load(std::memory_order_relaxed) + kRoomForMore, end_of_tag_ids()};
  }

  // NoRoom: more cells than `room` by now, or a newer tag's. Busy: the owner holds the flag, and
  // has probably lost its processor.
  enum class Exchanged { Yes, NoRoom, Busy };
  Exchanged exchange(OverflowSlab& empty, const Room& room);

  // True if the last exchange() gave Busy: cells are left.
  bool was_busy() const { return was_busy_; }

 private:
  void lock();
  bool lock_without_waiting();
  bool try_lock() { return !busy_.exchange(true, std::memory_order_acquire); }
  void unlock() { busy_.store(false, std::memory_order_release); }

  // For cells written meanwhile.
  static constexpr std::uint32_t kRoomForMore = 64;
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  std::atomic<bool> busy_{false};  // the flag: taken with acquire, given back with release
  bool was_busy_ = false;          // the flusher's
  volatile std::sig_atomic_t owner_is_busy_ = 0;  // holds the flag or waits for it; the owner's
  std::atomic<bool> written_{
      false};  // with its slab's position: released by add(), acquired by is_written()
  std::atomic<std::uint32_t> cells_{0};        // in the slab: a hint for the flusher
  std::atomic<std::uint64_t> slabs_taken_{0};  // released by the flusher, acquired by is_in_use()
  std::uint64_t written_slab_ = kNone;  // number of the slab the owner last wrote; the owner's
  OverflowSlab slab_;
};

}  // namespace pcp::trace::client
