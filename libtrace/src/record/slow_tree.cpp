// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/slow_tree.hpp"

#include <atomic>

#include "record/by_entry.hpp"

namespace pcp::trace::client {
namespace {

struct SlowTreeSlot {
  std::atomic<Moment> begun;  // released after the rest
  std::atomic<Places> tops;
  std::atomic<Places> left_out;
  std::atomic<Places> fast;
  std::atomic<std::uint32_t> round;
  std::atomic<OpenTable::Place> around;
  std::atomic<Moment> around_begun;
  std::atomic<Places> over_limit;
  std::atomic<CaptureSet::Epoch> epoch;
  std::atomic<std::uint32_t> open_inside;  // begun inside, not known to have ended on this thread
};
ByEntry<SlowTreeSlot> slots;

SlowTreeSlot* find(std::uint32_t entry, Moment begun) {
  SlowTreeSlot* const slot = slots.find(entry);
  return slot != nullptr && slot->begun.load(std::memory_order_acquire) == begun ? slot : nullptr;
}

}  // namespace

void note_in_slow_tree(std::uint32_t entry, Moment begun, const InSlowTree& what) {
  SlowTreeSlot* const slot = slots.find_or_make(entry);
  if (slot == nullptr) return;
  slot->begun.store(0, std::memory_order_relaxed);
  slot->tops.store(what.tops, std::memory_order_release);
  slot->left_out.store(what.left_out, std::memory_order_release);
  slot->round.store(what.round, std::memory_order_release);
  slot->around.store(what.around, std::memory_order_release);
  slot->around_begun.store(what.around_begun, std::memory_order_release);
  slot->over_limit.store(what.over_limit, std::memory_order_release);
  slot->epoch.store(what.epoch, std::memory_order_release);
  slot->fast.store(0, std::memory_order_release);
  slot->open_inside.store(0, std::memory_order_release);
  slot->begun.store(begun, std::memory_order_release);
}

void note_begun_inside(std::uint32_t entry, Moment begun) {
  if (SlowTreeSlot* const slot = find(entry, begun))
    slot->open_inside.fetch_add(1, std::memory_order_relaxed);
}

void note_ended_inside(std::uint32_t entry, Moment begun) {
  if (SlowTreeSlot* const slot = find(entry, begun))
    slot->open_inside.fetch_sub(1, std::memory_order_relaxed);
}

void note_fast(std::uint32_t entry, Moment begun, Places fast) {
  if (SlowTreeSlot* const slot = find(entry, begun))
    slot->fast.store(fast, std::memory_order_release);
}

SlowTreeNote find_in_slow_tree(std::uint32_t entry, Moment begun) {
  const SlowTreeSlot* const slot = find(entry, begun);
  if (slot == nullptr) return {};
  const SlowTreeNote note{
      .what = {.tops = slot->tops.load(std::memory_order_acquire),
               .left_out = slot->left_out.load(std::memory_order_acquire),
               .round = slot->round.load(std::memory_order_acquire),
               .around = slot->around.load(std::memory_order_acquire),
               .around_begun = slot->around_begun.load(std::memory_order_acquire),
               .over_limit = slot->over_limit.load(std::memory_order_acquire),
               .epoch = slot->epoch.load(std::memory_order_acquire)},
      .fast = slot->fast.load(std::memory_order_acquire),
      .is_known = true,
      .is_closed = slot->open_inside.load(std::memory_order_acquire) == 0};
  return slot->begun.load(std::memory_order_relaxed) == begun ? note : SlowTreeNote{};
}

}  // namespace pcp::trace::client
