// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/open_transactions.hpp"

#include <new>

namespace pcp::trace::client {

OpenTransactions::Slot* OpenTransactions::find(const Tag* tag) const {
  Slot* slot = buckets_[tag->id % kBuckets].load(std::memory_order_acquire);
  while (slot != nullptr && slot->tag != tag) slot = slot->next;
  return slot;
}

OpenTransactions::Slot* OpenTransactions::find_or_make(const Tag* tag) {
  if (Slot* slot = find(tag)) return slot;
  std::atomic<Slot*>& bucket = buckets_[tag->id % kBuckets];
  Slot* slot = new (std::nothrow) Slot{tag, bucket.load(std::memory_order_relaxed)};
  if (slot != nullptr) bucket.store(slot, std::memory_order_release);
  return slot;
}

void OpenTransactions::orphan() {
  for (auto& bucket : buckets_)
    for (Slot* slot = bucket.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next)
      slot->allow_replacement();
}

}  // namespace pcp::trace::client
