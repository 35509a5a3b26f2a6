// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/open_by_name.hpp"

#include <new>

namespace pcp::trace::client {

Begun OpenByName::close(const Tag* tag, std::uint64_t key) {
  Slot* slot = bucket_of(*tag).load(std::memory_order_acquire);
  for (; slot != nullptr; slot = slot->next) {
    if (slot->tag != tag || slot->key.load(std::memory_order_relaxed) != key) continue;
    if (const Begun closed = slot->close(); closed.moment != 0) return closed;
  }
  return {};
}

OpenByName::Slot* OpenByName::find(const Tag* tag, std::uint64_t key) {
  Slot* slot = bucket_of(*tag).load(std::memory_order_relaxed);
  while (slot != nullptr && (slot->tag != tag || slot->owner != owner_ ||
                             slot->key.load(std::memory_order_relaxed) != key))
    slot = slot->next;
  return slot;
}

OpenByName::Slot* OpenByName::find_or_make(const Tag* tag, std::uint64_t key) {
  if (Slot* const own = find(tag, key)) return own;
  std::atomic<Slot*>& bucket = bucket_of(*tag);
  Slot* const first = bucket.load(std::memory_order_relaxed);
  Slot* unused = nullptr;
  Slot* oldest = nullptr;
  std::size_t orphans = 0;
  for (Slot* slot = first; slot != nullptr; slot = slot->next) {
    if (slot->tag != tag) continue;
    const std::uint64_t its_key = slot->key.load(std::memory_order_relaxed);
    if (!slot->is_open() && (its_key == 0) == (key == 0)) unused = slot;
    if (slot->is_open() && its_key == key) {
      oldest = slot;
      ++orphans;
    }
  }
  if (unused == nullptr && orphans == kMostOrphans) unused = oldest;
  if (unused != nullptr) {
    unused->close();
    unused->key.store(key, std::memory_order_relaxed);
    unused->owner = owner_;
    return unused;
  }
  Slot* slot = new (std::nothrow) Slot{tag, first, key, owner_};
  if (slot != nullptr) bucket.store(slot, std::memory_order_release);
  return slot;
}

}  // namespace pcp::trace::client
