// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/open_transactions.hpp"

#include <new>

namespace pcp::trace::client {

OpenTransactions::Slot* OpenTransactions::find(const Tag* tag, std::uint64_t key) const {
  Slot* slot = buckets_[tag->id % kBuckets].load(std::memory_order_acquire);
  while (slot != nullptr && (slot->tag != tag || slot->key.load(std::memory_order_relaxed) != key))
    slot = slot->next;
  return slot;
}

OpenTransactions::Slot* OpenTransactions::find_or_make(const Tag* tag, std::uint64_t key) {
  if (Slot* slot = find(tag, key)) return slot;
  std::atomic<Slot*>& bucket = buckets_[tag->id % kBuckets];
  Slot* const first = bucket.load(std::memory_order_relaxed);
  for (Slot* slot = first; key != 0 && slot != nullptr; slot = slot->next) {
    if (slot->tag != tag || slot->key.load(std::memory_order_relaxed) == 0 || slot->is_open())
      continue;
    slot->key.store(key, std::memory_order_relaxed);
    return slot;
  }
  Slot* slot = new (std::nothrow) Slot{tag, first, key};
  if (slot != nullptr) bucket.store(slot, std::memory_order_release);
  return slot;
}

void OpenTransactions::orphan() {
  for (auto& bucket : buckets_)
    for (Slot* slot = bucket.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next)
      slot->allow_replacement();
}

}  // namespace pcp::trace::client
