// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/slow_trees.hpp"

#include <algorithm>
#include <cstddef>

namespace pcp::trace::client {

// The black box's layout of a slot.
void SlowTrees::check_layout() {
#define IS_AT(own, boxed) static_assert(offsetof(Slot, own) == offsetof(wire::box::Slot, boxed))
  IS_AT(head, head);
  IS_AT(begun, begun);
  IS_AT(epoch, epoch);
  IS_AT(trace_low, trace_low);
  IS_AT(tag, tag);
  IS_AT(trace_high, trace_high);
  IS_AT(parent, parent);
  IS_AT(packed, packed);
  IS_AT(thread, tid);
  IS_AT(reason_for, reason_for);
  IS_AT(own, own);
#undef IS_AT
  static_assert(sizeof(Slot) <= sizeof(wire::box::Slot));
}

bool SlowTrees::open(std::uint32_t entry, Moment begun, const TreeFacts& facts) {
  Slot* const slot = slots_.find_or_make(
      entry, [this](std::size_t bytes) { return box_.map(wire::box::kSlotsAt, bytes); });
  if (slot == nullptr) return false;
  slot->own.store(0, std::memory_order_relaxed);
  slot->begun.store(0, std::memory_order_relaxed);
  const std::uint64_t before = slot->head.load(std::memory_order_relaxed);
  const std::uint64_t generation = (generation_of(before) + 1) | 1;
  slot->head.store(generation << 32, std::memory_order_release);
  slot->selected.store(facts.selected, std::memory_order_release);
  slot->around.store(facts.around, std::memory_order_release);
  slot->left_out.store(facts.left_out, std::memory_order_release);
  slot->epoch.store(facts.epoch, std::memory_order_release);
  slot->trace_low.store(facts.trace_low, std::memory_order_release);
  note_part(facts.around);
  slot->begun.store(begun, std::memory_order_release);
  return true;
}

void SlowTrees::show(std::uint32_t entry, const Tag& tag, std::uint32_t thread,
                     const TraceContext& context, CaptureBits reason_for) {
  Slot& slot = *slots_.find(entry);
  slot.tag.store(&tag, std::memory_order_relaxed);
  slot.trace_high.store(context.trace_high, std::memory_order_relaxed);
  slot.parent.store(context.parent, std::memory_order_relaxed);
  slot.packed.store(context.packed, std::memory_order_relaxed);
  slot.thread.store(thread, std::memory_order_relaxed);
  slot.reason_for.store(reason_for, std::memory_order_relaxed);
  slot.own.store(context.own, std::memory_order_release);
}

// Another thread that ends a transaction may meet the next one in its entry.
void SlowTrees::hide(std::uint32_t entry, std::uint64_t own) {
  Slot* const slot = slots_.find(entry);
  if (slot != nullptr && slot->own.load(std::memory_order_relaxed) == own)
    slot->own.store(0, std::memory_order_release);
}

SlowTrees::Snapshot SlowTrees::find(std::uint32_t entry, Moment begun) const {
  const Slot* const slot = slots_.find(entry);
  if (slot == nullptr || slot->begun.load(std::memory_order_acquire) != begun) return {};
  const std::uint64_t head = slot->head.load(std::memory_order_acquire);
  const std::uint32_t generation = (generation_of(head) - 1) | 1;  // while it was open
  const Snapshot known{.is_found = true,
                       .is_open = is_open(head),
                       .self = ref(entry, generation),
                       .facts = {.selected = slot->selected.load(std::memory_order_acquire),
                                 .around = slot->around.load(std::memory_order_acquire),
                                 .left_out = slot->left_out.load(std::memory_order_acquire),
                                 .epoch = slot->epoch.load(std::memory_order_acquire)}};
  return slot->begun.load(std::memory_order_relaxed) == begun ? known : Snapshot{};
}

bool SlowTrees::close(const Snapshot& ended, const Ending& ending, WaitingSpans& waiting) {
  Slot& slot = *slot_of(ended.self);
  const auto generation = static_cast<std::uint32_t>(ended.self);
  std::uint64_t head = slot.head.load(std::memory_order_relaxed);
  CaptureBits slow = 0;
  do {
    if (generation_of(head) != generation) return false;
    slow = ending.slow(reasons_of(head));
  } while (!slot.head.compare_exchange_weak(head, std::uint64_t{generation + 1} << 32 | slow,
                                            std::memory_order_acq_rel, std::memory_order_relaxed));
  const bool has_parts = (head & kParts) != 0;
  waiting = {slow, list_of(head), has_parts, has_parts || (reasons_of(head) & kPartWasSlow) != 0};
  if (slow != 0) note(ended.facts.around, kPartWasSlow);
  return true;
}

bool SlowTrees::note(TreeRef at, std::uint32_t reasons) {
  bool is_news = false;
  for (bool is_first = true;; is_first = false) {
    Slot* const slot = slot_of(at);
    if (slot == nullptr) return is_news;
    std::uint64_t head = slot->head.load(std::memory_order_acquire);
    const TreeRef around = slot->around.load(std::memory_order_acquire);
    do {
      const bool has_them = (reasons & ~reasons_of(head)) == 0;
      if (generation_of(head) != static_cast<std::uint32_t>(at) || has_them) return is_news;
    } while (!slot->head.compare_exchange_weak(
        head, head | reasons * kOneReason, std::memory_order_acq_rel, std::memory_order_acquire));
    is_news |= is_first;
    at = around;
  }
}

void SlowTrees::note_part(TreeRef around) {
  Slot* const slot = slot_of(around);
  if (slot == nullptr) return;
  std::uint64_t head = slot->head.load(std::memory_order_relaxed);
  do {
    if (generation_of(head) != static_cast<std::uint32_t>(around) || (head & kParts) == kParts)
      return;
  } while (!slot->head.compare_exchange_weak(head, head + kOnePart, std::memory_order_acq_rel,
                                             std::memory_order_relaxed));
}

void SlowTrees::note_end_of_part(TreeRef around) {
  Slot* const slot = slot_of(around);
  if (slot == nullptr) return;
  std::uint64_t head = slot->head.load(std::memory_order_relaxed);
  do {
    if (generation_of(head) != static_cast<std::uint32_t>(around)) return;
  } while (!slot->head.compare_exchange_weak(head, without_part(head), std::memory_order_acq_rel,
                                             std::memory_order_relaxed));
}

bool SlowTrees::wait(TreeRef at, SpanPool::Index list, bool is_part, std::uint64_t since_ns) {
  Slot* const slot = slot_of(at);
  if (slot == nullptr) return false;
  const SpanPool::Ends own = pool_.ends(list);
  std::uint64_t head = slot->head.load(std::memory_order_acquire);
  for (;;) {
    if (generation_of(head) != static_cast<std::uint32_t>(at)) break;
    const SpanPool::Index there = list_of(head);
    pool_.put_before(list, own, there);
    if (there == 0 || slot->since_ns.load(std::memory_order_relaxed) > since_ns)
      slot->since_ns.store(since_ns, std::memory_order_relaxed);
    const std::uint64_t with = ((is_part ? without_part(head) : head) & ~kList) | list;
    if (slot->head.compare_exchange_weak(head, with, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
      return true;
  }
  pool_.put_before(list, own, 0);
  return false;
}

SlowTrees::Outcome SlowTrees::outcome(TreeRef ref) const {
  const Slot* const slot = slot_of(ref);
  if (slot == nullptr) return {};
  const std::uint64_t head = slot->head.load(std::memory_order_acquire);
  const auto generation = static_cast<std::uint32_t>(ref);
  if (generation_of(head) == generation) return {.is_open = true, .is_found = true};
  const TreeRef around = slot->around.load(std::memory_order_acquire);
  if (generation_of(head) != generation + 1 || slot->head.load(std::memory_order_relaxed) != head)
    return {};
  return {.is_found = true, .slow = static_cast<CaptureBits>(head), .around = around};
}

SpanPool::Index SlowTrees::take_list(Slot& slot) {
  std::uint64_t head = slot.head.load(std::memory_order_acquire);
  std::uint64_t without = 0;
  do {
    if (!is_open(head) || list_of(head) == 0) return 0;
    without = (head & ~(kTaken | kList)) | ((head + kOnceTaken) & kTaken);
  } while (!slot.head.compare_exchange_weak(head, without, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
  return list_of(head);
}

std::uint64_t SlowTrees::oldest_ns(std::uint32_t entries, std::uint64_t none) const {
  std::uint64_t oldest = none;
  for (std::uint32_t entry = 0; entry < entries; ++entry) {
    const Slot* const slot = slots_.find(entry);
    if (slot == nullptr) break;
    const std::uint64_t head = slot->head.load(std::memory_order_relaxed);
    if (is_open(head) && list_of(head) != 0)
      oldest = std::min(oldest, slot->since_ns.load(std::memory_order_relaxed));
  }
  return oldest;
}

}  // namespace pcp::trace::client
