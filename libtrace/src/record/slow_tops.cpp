// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/slow_tops.hpp"

#include <atomic>

#include "record/by_entry.hpp"

namespace pcp::trace::client {
namespace {

struct SlowTopSlot {
  std::atomic<Moment> begun;  // released after the rest
  std::atomic<Places> places;
  std::atomic<Places> left_out;
  std::atomic<bool> has_inside;  // stands for itself
};
ByEntry<SlowTopSlot> slow_tops;

}  // namespace

void note_slow_top(std::uint32_t entry, Moment begun, const SlowTop& top) {
  SlowTopSlot* const slot = slow_tops.find_or_make(entry);
  if (slot == nullptr) return;
  slot->begun.store(0, std::memory_order_relaxed);
  slot->places.store(top.places, std::memory_order_release);
  slot->left_out.store(top.left_out, std::memory_order_release);
  slot->has_inside.store(false, std::memory_order_release);
  slot->begun.store(begun, std::memory_order_release);
}

void note_inside_slow_top(std::uint32_t entry) {
  if (SlowTopSlot* const slot = slow_tops.find(entry))
    slot->has_inside.store(true, std::memory_order_relaxed);
}

SlowTop slow_top(std::uint32_t entry, Moment begun) {
  const SlowTopSlot* const slot = slow_tops.find(entry);
  if (slot == nullptr || slot->begun.load(std::memory_order_acquire) != begun) return {};
  const SlowTop top{slot->places.load(std::memory_order_acquire),
                    slot->left_out.load(std::memory_order_acquire),
                    slot->has_inside.load(std::memory_order_acquire)};
  return slot->begun.load(std::memory_order_relaxed) == begun ? top : SlowTop{};
}

}  // namespace pcp::trace::client
