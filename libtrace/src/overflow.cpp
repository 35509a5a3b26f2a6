#include "overflow.hpp"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <new>

namespace pcp::trace::client {
namespace {

// A slab with no more keeps its memory, so that a thread that is always too fast allocates nothing.
constexpr std::size_t kKeptCells = 256;

std::size_t hash_of(const Tag* tag, TraceType type) {
  return (std::size_t{tag->id} * 4 + index_of(type)) * 0x9E3779B97F4A7C15u >> 32;
}

}  // namespace

bool Overflow::add(const Record& record, std::uint64_t queued) {
  const unsigned active = lock_active();
  Slab& slab = slabs_[active];
  bool added = true;
  try {
    OverflowCell& cell = slab.cell(record.tag, type_of(record.kind));
    if (add_to(cell.delta, record)) ++cell.delta.unbinned;
    if (!slab.written.load(std::memory_order_relaxed)) {
      slab.position = queued;
      slab.written.store(true, std::memory_order_relaxed);
    }
    writing_ = true;
    written_slab_ = active;
  } catch (const std::bad_alloc&) {
    added = false;
  }
  slab.unlock();
  return added;
}

unsigned Overflow::lock_active() {
  for (;;) {
    const unsigned active = active_.load(std::memory_order_acquire);
    Slab& slab = slabs_[active];
    if (!slab.try_lock()) continue;  // the flusher is just turning it away
    // Slabs are turned under the lock: what is active now stays active until unlock().
    if (active_.load(std::memory_order_acquire) == active) return active;
    slab.unlock();
  }
}

void Overflow::Slab::lock() {
  for (int tries = 0; !try_lock(); ++tries) {
    if (tries < 100) {
      ::sched_yield();
    } else {  // the owner lost its processor in the middle of a write
      const timespec pause{0, 100'000};
      ::nanosleep(&pause, nullptr);
    }
  }
}

OverflowCell& Overflow::Slab::cell(const Tag* tag, TraceType type) {
  if (cells.size() * 2 >= index.size()) grow_index();
  const std::size_t mask = index.size() - 1;
  std::size_t slot = hash_of(tag, type) & mask;
  for (; index[slot] != 0; slot = (slot + 1) & mask) {
    OverflowCell& cell = cells[index[slot] - 1];
    if (cell.tag == tag && cell.type == type) return cell;
  }
  cells.push_back({tag, type, {}});
  index[slot] = static_cast<std::uint32_t>(cells.size());
  return cells.back();
}

void Overflow::Slab::grow_index() {
  std::vector<std::uint32_t> wider(index.empty() ? 16 : index.size() * 2);
  const std::size_t mask = wider.size() - 1;
  for (std::uint32_t i = 0; i < cells.size(); ++i) {
    std::size_t slot = hash_of(cells[i].tag, cells[i].type) & mask;
    while (wider[slot] != 0) slot = (slot + 1) & mask;
    wider[slot] = i + 1;
  }
  index.swap(wider);
}

void Overflow::Slab::clear() {
  if (cells.capacity() <= kKeptCells) {
    cells.clear();
    std::fill(index.begin(), index.end(), 0);
  } else {  // given back: 64 threads with 1,000 tags each are not rare
    cells = {};
    index = {};
  }
  written.store(false, std::memory_order_relaxed);
}

}  // namespace pcp::trace::client
