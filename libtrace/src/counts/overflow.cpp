// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <new>

#include "platform/guards.hpp"

namespace pcp::trace::client {
namespace {

// A slab of at most so many cells keeps its memory: a thread that is always too fast allocates
// nothing.
constexpr std::size_t kKeptCells = 1024;

// Long enough for a running thread to write a cell.
constexpr int kTries = 100;

std::size_t hash_of(const Tag* tag, std::uint64_t kind) {
  return (std::size_t{tag->id} * 16 + kind) * 0x9E3779B97F4A7C15u >> 32;  // 32 bits
}

// Tells a signal handler of this thread that the slab is inconsistent.
class Growing {
 public:
  explicit Growing(volatile std::sig_atomic_t& flag) : flag_(flag) {
    flag_ = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Growing() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    flag_ = 0;
  }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

 private:
  volatile std::sig_atomic_t& flag_;
};

// If a signal handler of this thread finds what is written after this, it finds all before, too.
void write_in_order() { std::atomic_signal_fence(std::memory_order_release); }

bool has_value(RecordKind kind) { return kind != RecordKind::Point; }

}  // namespace

bool Overflow::add(const Record& record, std::uint64_t queued) {
  owner_is_busy_ = 1;
  lock();
  const bool added = slab_.add(record);
  if (added) {
    if (!written_.load(std::memory_order_relaxed)) {
      slab_.position = queued;
      written_.store(true, std::memory_order_release);
    }
    written_slab_ = slabs_taken_.load(std::memory_order_relaxed);
    cells_.store(slab_.size(), std::memory_order_relaxed);
  }
  unlock();
  owner_is_busy_ = 0;
  return added;
}

Overflow::Exchanged Overflow::exchange(OverflowSlab& empty, const Room& room) {
  was_busy_ = !lock_without_waiting();
  if (was_busy_) return Exchanged::Busy;
  const bool fits = slab_.size() <= room.cells && end_of_tag_ids() <= room.end_of_ids;
  if (fits) {
    std::swap(slab_, empty);
    written_.store(false, std::memory_order_relaxed);
    slabs_taken_.store(slabs_taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  unlock();
  return fits ? Exchanged::Yes : Exchanged::NoRoom;
}

bool Overflow::lock_without_waiting() {
  for (int tries = 0; tries < kTries; ++tries)
    if (try_lock()) return true;
  return false;
}

void Overflow::lock() {
  for (int tries = 0; !try_lock(); ++tries) {
    if (tries < kTries) continue;
    const NoCancellation guard;
    const timespec pause{0, 100'000};  // the holder of the flag lost its processor
    ::nanosleep(&pause, nullptr);
  }
}

// A signal handler that ends the process may find the cells after any step. The count comes last,
// so that it includes no value that the other numbers lack.
bool OverflowSlab::add(const Record& record) {
  const auto kind = static_cast<Kind>(record.kind());
  const bool finite = !has_value(record.kind()) || std::isfinite(record.value);
  try {
    Cell& cell = find_or_make(record.tag(), kind);
    if (!finite) {
      ++find_or_make(record.tag(), kind | kNotFinite).count;
      has_nonfinite_ = true;
    } else if (has_value(record.kind())) {
      add_value(cell.sum, record.value);
      cell.min = std::min(cell.min, record.value);
      cell.max = std::max(cell.max, record.value);
    }
    write_in_order();
    if (has_value(record.kind())) cell.last = record.value;
    write_in_order();
    ++cell.count;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Gives an empty delta for a kNotFinite cell, and for a cell that add() made but could not count.
OverflowCell OverflowSlab::read(const Cell& cell) const {
  if ((cell.kind & kNotFinite) != 0) return {cell.tag, {}, {}};
  const auto kind = static_cast<RecordKind>(cell.kind);
  OverflowCell result{cell.tag, kind, {}};
  Delta& delta = result.delta;
  delta.count = cell.count;
  if (!has_value(kind)) return result;
  // Also if a handler has interrupted add().
  const std::uint64_t most_nonfinite = cell.count - (std::isfinite(cell.last) ? 1 : 0);
  if (has_nonfinite_)
    if (const std::uint32_t found = index_[slot_of(cell.tag, cell.kind | kNotFinite)]; found != 0)
      delta.nonfinite = std::min<std::uint64_t>(at(found - 1).count, most_nonfinite);
  if (has_histogram(type_of(kind))) delta.unbinned = delta.count - delta.nonfinite;
  delta.sum = cell.sum;
  delta.min = cell.min;
  delta.max = cell.max;
  delta.last = cell.last;
  return result;
}

OverflowSlab::Cell& OverflowSlab::find_or_make(const Tag* tag, Kind kind) {
  if (size_ * std::size_t{4} >= index_.size() * 3) grow_index();
  std::uint32_t& found = index_[slot_of(tag, kind)];
  if (found != 0) return at(found - 1);
  const Growing now(is_growing_);
  if (size_ == blocks_.size() * kInBlock)
    blocks_.push_back(std::make_unique_for_overwrite<Cell[]>(kInBlock));
  found = ++size_;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return at(size_ - 1) = {tag, kind & kKindMask, 0, 0, kInfinity, -kInfinity, 0};
}

std::size_t OverflowSlab::slot_of(const Tag* tag, Kind kind) const {
  std::size_t slot = hash_of(tag, kind) * index_.size() >> 32;
  for (; index_[slot] != 0; slot = slot + 1 < index_.size() ? slot + 1 : 0) {
    const Cell& cell = at(index_[slot] - 1);
    if (cell.tag == tag && cell.kind == kind) break;
  }
  return slot;
}

void OverflowSlab::grow_index() {
  const Growing now(is_growing_);
  index_ = std::vector<std::uint32_t>(std::max<std::size_t>(index_.size() * 3 / 2, 16));
  for (std::uint32_t i = 0; i < size_; ++i) index_[slot_of(at(i).tag, at(i).kind)] = i + 1;
}

void OverflowSlab::clear() {
  if (blocks_.size() * kInBlock <= kKeptCells) {
    std::fill(index_.begin(), index_.end(), 0);
    size_ = 0;
    has_nonfinite_ = false;
  } else {  // frees memory: 64 threads with thousands of tags each are not rare
    *this = {};
  }
}

}  // namespace pcp::trace::client
