// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/pending.hpp"

#include <algorithm>
#include <new>

namespace pcp::trace::client {

void Pending::make_room(std::size_t records) {
  const std::size_t possible = std::size_t{end_of_tag_ids()} * kSeries;
  if (possible > by_tag_.size()) by_tag_.resize(possible);
  const std::size_t needed = std::min(taken_ + records, possible);
  while (entries_.size() < needed) entries_.emplace_back();
}

void Pending::queue(Entry& entry) {
  (empty() ? first_ : last_->next_queued) = &entry;
  last_ = &entry;
  ++queued_;
  entry.is_queued = true;
}

// Kept out of add()'s loop, which is faster without it.
[[gnu::noinline]] Pending::Entry& Pending::queued_entry(const Tag* tag, RecordKind series,
                                                        std::uint64_t first_ns) {
  Entry*& entry = by_tag_[index_of(tag, series)];
  if (entry == nullptr) {
    entry = &entries_[taken_++];
    entry->tag = tag;
    entry->series = series;
  }
  if (!entry->is_queued) queue(*entry);
  if (entry->last_ns == 0) entry->first_ns = first_ns;
  return *entry;
}

void Pending::add(std::span<const Fetched> some, std::uint64_t now_ns) {
  for (const auto& [entry, record] : some) {
    Entry* target = entry;
    if (target == nullptr || target->last_ns == 0) [[unlikely]]
      target = &queued_entry(record.tag(), record.kind(), now_ns);
    target->last_ns = now_ns;
    if (!add_to(target->delta, record)) continue;
    try {
      target->histogram.add(record.value);
    } catch (const std::bad_alloc&) {  // missing in percentiles; the sender counts it
    }
  }
}

void Pending::add(const OverflowCell& cell, std::uint64_t now_ns) {
  Entry& target = queued_entry(cell.tag, cell.kind, now_ns);
  target.last_ns = now_ns;
  if (target.is_added()) {
    add_increments(target.delta, cell.delta.count, cell.delta.sum);
    return;
  }
  target.delta.merge(cell.delta);
}

bool Pending::redefine(const Tag& tag) {
  Entry* known = nullptr;
  for (std::size_t series = 1; series <= kSeries; ++series) {
    Entry* const entry = find(&tag, static_cast<RecordKind>(series));
    if (entry == nullptr) continue;
    if (entry->is_queued) return true;
    known = entry;
  }
  if (known != nullptr) queue(*known);
  return known != nullptr;
}

void Pending::add_again(const Entry& old) {
  Entry& target = queued_entry(old.tag, old.series, old.first_ns);
  target.first_ns = std::min(target.first_ns, old.first_ns);
  target.last_ns = std::max(target.last_ns, old.last_ns);
  Delta delta = old.delta;
  if (has_histogram(old.type())) delta.unbinned = delta.count - delta.nonfinite;
  if (target.delta.count > 0 || target.is_added())
    delta.last = target.delta.last;  // the pending value is newer
  target.delta.merge(delta);
}

void Pending::pop() {
  Entry& done = front();
  const double last = done.delta.last;
  done.delta = {};
  if (done.is_added()) done.delta.last = last;
  done.histogram.clear();
  done.last_ns = 0;
  done.is_queued = false;
  first_ = done.next_queued;
  ++popped_;
}

}  // namespace pcp::trace::client
