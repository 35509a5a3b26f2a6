// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/slow_trees.hpp"

#include <algorithm>

namespace pcp::trace::client {

// The head torn once more, without its list. The number of times wraps to 1.
std::uint64_t SlowTrees::torn(std::uint64_t head) {
  const std::uint64_t times = (head & kTorn) == kTorn ? kOnceTorn : (head & kTorn) + kOnceTorn;
  return (head & ~(kTorn | kList)) | times;
}

bool SlowTrees::open(std::uint32_t entry, Moment begun, const TreeFacts& facts) {
  Slot* const slot = slots_.find_or_make(entry);
  if (slot == nullptr) return false;
  slot->begun.store(0, std::memory_order_relaxed);
  const std::uint64_t before = slot->head.load(std::memory_order_relaxed);
  const std::uint64_t generation = (generation_of(before) + 1) | 1;
  slot->head.store(generation << 32, std::memory_order_release);
  slot->selected.store(facts.selected, std::memory_order_release);
  slot->around.store(facts.around, std::memory_order_release);
  slot->left_out.store(facts.left_out, std::memory_order_release);
  slot->epoch.store(facts.epoch, std::memory_order_release);
  slot->trace_low.store(facts.trace_low, std::memory_order_release);
  slot->is_part.store(add_part(facts.around), std::memory_order_relaxed);
  slot->begun.store(begun, std::memory_order_release);
  return true;
}

SlowTrees::Snapshot SlowTrees::find(std::uint32_t entry, Moment begun) const {
  const Slot* const slot = slots_.find(entry);
  if (slot == nullptr || slot->begun.load(std::memory_order_acquire) != begun) return {};
  const std::uint64_t head = slot->head.load(std::memory_order_acquire);
  const std::uint32_t generation = (generation_of(head) - 1) | 1;  // while it was open
  const Snapshot known{.is_found = true,
                       .is_part = slot->is_part.load(std::memory_order_relaxed),
                       .is_open = is_open(head),
                       .self = ref(entry, generation),
                       .facts = {.selected = slot->selected.load(std::memory_order_acquire),
                                 .around = slot->around.load(std::memory_order_acquire),
                                 .left_out = slot->left_out.load(std::memory_order_acquire),
                                 .epoch = slot->epoch.load(std::memory_order_acquire)}};
  return slot->begun.load(std::memory_order_relaxed) == begun ? known : Snapshot{};
}

// The EndRecord is there before a part can find the transaction ended.
bool SlowTrees::close(const Snapshot& ended, const Ending& ending, WaitingSpans& waiting) {
  Slot& slot = *slot_of(ended.self);
  const auto generation = static_cast<std::uint32_t>(ended.self);
  EndRecord* end_record = nullptr;
  std::uint64_t head = slot.head.load(std::memory_order_relaxed);
  const std::uint64_t since_ns =
      list_of(head) != 0 ? slot.since_ns.load(std::memory_order_relaxed) : UINT64_MAX;
  CaptureBits slow = 0;
  bool is_first = false;
  do {
    if (generation_of(head) != generation) break;
    slow = ending.slow(reasons_of(head));
    if (end_record == nullptr && parts_of(head) != 0) end_record = make_end_record(ended);
    if (end_record != nullptr) {
      end_record->slow.store(slow, std::memory_order_relaxed);
      end_record->parts.store(parts_of(head), std::memory_order_relaxed);
    }
    is_first =
        slot.head.compare_exchange_weak(head, std::uint64_t{generation + 1} << 32 | slow,
                                        std::memory_order_acq_rel, std::memory_order_relaxed);
  } while (!is_first);
  const bool has_end_record = is_first && end_record != nullptr && parts_of(head) != 0;
  if (end_record != nullptr && !has_end_record)
    end_record->self.store(0, std::memory_order_release);
  if (is_first)
    waiting = {slow, reasons_of(head), list_of(head), since_ns, is_torn(head), has_end_record};
  return is_first;
}

bool SlowTrees::note(TreeRef at, std::uint32_t reasons) {
  bool is_news = false;
  for (bool is_first = true;; is_first = false) {
    Slot* const slot = at != 0 && at < kForgottenAround ? slot_of(at) : nullptr;
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

// False if the transaction is not open, or has too many parts.
bool SlowTrees::add_part(TreeRef ref) {
  Slot* const slot = ref != 0 && ref < kForgottenAround ? slot_of(ref) : nullptr;
  if (slot == nullptr) return false;
  std::uint64_t head = slot->head.load(std::memory_order_relaxed);
  do {
    if (generation_of(head) != static_cast<std::uint32_t>(ref) || (head & kParts) == kParts)
      return false;
  } while (!slot->head.compare_exchange_weak(head, head + kOnePart, std::memory_order_acq_rel,
                                             std::memory_order_relaxed));
  return true;
}

void SlowTrees::release(TreeRef around) {
  for (;;) {
    Slot& slot = *slot_of(around);
    std::uint64_t head = slot.head.load(std::memory_order_acquire);
    while (generation_of(head) == static_cast<std::uint32_t>(around))
      if (slot.head.compare_exchange_weak(head, head - kOnePart, std::memory_order_acq_rel,
                                          std::memory_order_acquire))
        return;
    EndRecord* const end_record = find_end_record(around);
    if (end_record == nullptr) return;
    const TreeRef next = end_record->around.load(std::memory_order_relaxed);
    const bool is_part = end_record->is_part.load(std::memory_order_relaxed);
    if (end_record->parts.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    end_record->self.store(0, std::memory_order_release);
    if (!is_part) return;
    around = next;
  }
}

// Null if there is no room: then parts that end later are not found.
SlowTrees::EndRecord* SlowTrees::make_end_record(const Snapshot& ended) {
  auto* const records = end_records_.find_or_make();
  for (std::size_t i = 0; records != nullptr && i < kProbed; ++i) {
    EndRecord& end_record = (*records)[(ended.self ^ ended.self >> 28 ^ i) % kMostEndRecords];
    TreeRef free = 0;
    if (!end_record.self.compare_exchange_strong(free, kIsWritten, std::memory_order_acquire))
      continue;
    end_record.around.store(ended.facts.around, std::memory_order_release);
    end_record.is_part.store(ended.is_part, std::memory_order_release);
    end_record.self.store(ended.self, std::memory_order_release);
    return &end_record;
  }
  return nullptr;
}

SlowTrees::EndRecord* SlowTrees::find_end_record(TreeRef self) const {
  auto* const records = end_records_.find();
  for (std::size_t i = 0; records != nullptr && i < kProbed; ++i) {
    EndRecord& end_record = (*records)[(self ^ self >> 28 ^ i) % kMostEndRecords];
    if (end_record.self.load(std::memory_order_acquire) == self) return &end_record;
  }
  return nullptr;
}

bool SlowTrees::wait(TreeRef at, SpanPool::Index list, bool is_torn, bool is_part,
                     std::uint64_t since_ns) {
  Slot* const slot = at != 0 && at < kForgottenAround ? slot_of(at) : nullptr;
  if (slot == nullptr) return false;
  const SpanPool::Ends own = pool_.ends(list);
  std::uint64_t head = slot->head.load(std::memory_order_acquire);
  for (;;) {
    if (generation_of(head) != static_cast<std::uint32_t>(at)) break;
    const SpanPool::Index there = list_of(head);
    pool_.put_before(list, own, there);
    const std::uint64_t with = (is_torn ? torn(head) : head & ~kList) - (is_part ? kOnePart : 0);
    if (there == 0 || slot->since_ns.load(std::memory_order_relaxed) > since_ns)
      slot->since_ns.store(since_ns, std::memory_order_relaxed);
    if (slot->head.compare_exchange_weak(head, with | list, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
      return true;
  }
  pool_.put_before(list, own, 0);
  return false;
}

SlowTrees::Outcome SlowTrees::recorded_outcome(TreeRef ref) const {
  const EndRecord* const end_record = find_end_record(ref);
  if (end_record == nullptr) return {};
  const Outcome outcome{.is_found = true,
                        .slow = end_record->slow.load(std::memory_order_acquire),
                        .around = end_record->around.load(std::memory_order_acquire)};
  return end_record->self.load(std::memory_order_relaxed) == ref ? outcome : Outcome{};
}

SlowTrees::Outcome SlowTrees::outcome(TreeRef ref) const {
  const Slot* const slot = ref != 0 && ref < kForgottenAround ? slot_of(ref) : nullptr;
  if (slot == nullptr) return {};
  const std::uint64_t head = slot->head.load(std::memory_order_acquire);
  const auto generation = static_cast<std::uint32_t>(ref);
  if (generation_of(head) == generation) return {.is_open = true, .is_found = true};
  const TreeRef around = slot->around.load(std::memory_order_acquire);
  if (generation_of(head) != generation + 1 || slot->head.load(std::memory_order_relaxed) != head)
    return recorded_outcome(ref);
  return {.is_found = true, .slow = static_cast<CaptureBits>(head), .around = around};
}

// Gives the list, and what is around its transaction.
SpanPool::Index SlowTrees::tear(Slot& slot, TreeRef& around) {
  std::uint64_t head = slot.head.load(std::memory_order_acquire);
  do {
    if (!is_open(head) || list_of(head) == 0) return 0;
    around = slot.around.load(std::memory_order_acquire);  // of this head, if the exchange succeeds
  } while (!slot.head.compare_exchange_weak(head, torn(head), std::memory_order_acq_rel,
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
