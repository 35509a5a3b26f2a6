// Where a thread's calls go when its queue is full: cells, one per tag and kind, that add up the
// same numbers on the spot. Slower than the queue, never lossy; only the histogram does not see
// them.
//
// Two slabs of cells take turns. The owner writes into the active one; the flusher makes the other
// one active and takes what was written. Each slab has a flag that whoever touches its cells holds.
//
// Order. While its cells are in use the owner puts nothing into its queue. When it sees that the
// flusher has turned the slabs it may go back to the queue: the flusher takes the cells before it
// takes anything that was queued after them. A slab remembers how long the queue was when its first
// cell was written, so that the flusher also takes the cells after everything queued before them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "record.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::client {

struct OverflowCell {
  const Tag* tag;
  TraceType type;
  Delta delta;
};

class Overflow {
 public:
  // Adds a record. `queued` is how many records the owner has ever queued. False if there is no
  // memory for a new tag's cell. Thread: the owner's.
  bool add(const Record& record, std::uint64_t queued);

  // Tells whether the owner must go on using the cells to keep its records in order. Thread: the
  // owner's.
  bool in_use() const {
    return writing_ && active_.load(std::memory_order_acquire) == written_slab_;
  }

  // Turns the slabs if anything was written, calls drain_until with the number of records that were
  // queued before the first cell was written, and hands each cell to `visit`. False if there was
  // nothing. Waits for the owner's write of one cell at most. Thread: the flusher's.
  template <typename DrainUntil, typename Visit>
  bool take(DrainUntil drain_until, Visit visit) {
    const unsigned turned = active_.load(std::memory_order_relaxed);
    Slab& slab = slabs_[turned];
    if (!slab.written.load(std::memory_order_relaxed)) return false;
    slab.lock();
    // From here on the owner finds the other slab, so it never waits for what follows.
    active_.store(1 - turned, std::memory_order_release);
    drain_until(slab.position);
    for (const OverflowCell& cell : slab.cells) visit(cell);
    slab.clear();
    slab.unlock();
    return true;
  }

 private:
  struct Slab {
    std::atomic<bool> busy{false};     // lock with acquire, unlock with release
    std::atomic<bool> written{false};  // a hint for the flusher
    std::uint64_t position = 0;        // records queued before the first cell was written
    std::vector<OverflowCell> cells;
    std::vector<std::uint32_t> index;  // open addressing: place in cells plus one, 0 is free

    void lock();
    bool try_lock() { return !busy.exchange(true, std::memory_order_acquire); }
    void unlock() { busy.store(false, std::memory_order_release); }
    OverflowCell& cell(const Tag* tag, TraceType type);
    void grow_index();
    void clear();
  };

  unsigned lock_active();  // Thread: the owner's

  std::array<Slab, 2> slabs_;
  std::atomic<unsigned> active_{
      0};  // turned by the flusher with release, read by the owner with acquire

  bool writing_ = false;  // owner's, as is the next one
  unsigned written_slab_ = 0;
};

}  // namespace pcp::trace::client
