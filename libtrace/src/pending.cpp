#include "pending.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace pcp::trace::client {
namespace {

// Records that are looked up together.
constexpr std::size_t kAtOnce = 64;

std::uint64_t calls_in(const OverflowCell& cell) { return cell.delta.count + cell.delta.aborts; }

void prefetch(const Pending::Entry& entry) {
  const char* bytes = reinterpret_cast<const char*>(&entry);
  __builtin_prefetch(bytes + 64, 1);
  __builtin_prefetch(bytes + 128, 1);
}

}  // namespace

Pending::Entry& Pending::queued_entry(const Tag* tag, TraceType type, std::uint64_t first_ns) {
  Entry* entry = find(tag, type);
  if (entry == nullptr) {
    const std::size_t end = (std::size_t{tag->id} + 1) * kTraceTypes.size();
    if (end > by_tag_.size()) by_tag_.resize(end);
    entry = &entries_.emplace_back();
    entry->tag = tag;
    entry->type = type;
    by_tag_[place_of(tag, type)] = entry;
  }
  if (!entry->is_queued) {
    queue_.push_back(entry);
    entry->is_queued = true;
    entry->first_ns = first_ns;
  }
  return *entry;
}

// Not in add_some()'s loop, which is faster without all this.
[[gnu::noinline]] Pending::Entry* Pending::try_queued_entry(const Tag* tag, TraceType type,
                                                            std::uint64_t first_ns) {
  try {
    return &queued_entry(tag, type, first_ns);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::uint64_t Pending::add(std::span<const Record> records, std::uint64_t now_ns) {
  std::uint64_t lost = 0;
  while (!records.empty()) {
    const auto some = records.first(std::min(records.size(), kAtOnce));
    lost += add_some(some, now_ns);
    records = records.subspan(some.size());
  }
  return lost;
}

// In two passes: with many tags an entry is in no near cache, but comes while the next ones are
// looked up.
std::uint64_t Pending::add_some(std::span<const Record> records, std::uint64_t now_ns) {
  std::array<Entry*, kAtOnce> entries;
  Entry** entry = entries.data();
  for (const Record& record : records) {
    *entry = find(record.tag, type_of(record.kind));
    if (*entry == nullptr || !(*entry)->is_queued) [[unlikely]]
      *entry = try_queued_entry(record.tag, type_of(record.kind), now_ns);
    if (*entry != nullptr) prefetch(**entry);
    ++entry;
  }

  std::uint64_t lost = 0;
  entry = entries.data();
  for (const Record& record : records) {
    Entry* target = *entry++;
    if (target == nullptr) [[unlikely]] {
      ++lost;
      continue;
    }
    target->last_ns = now_ns;
    if (!add_to(target->delta, record)) continue;
    try {
      target->histogram.add(record.value);
    } catch (const std::bad_alloc&) {  // one value that percentiles miss; the sender counts it
    }
  }
  return lost;
}

std::uint64_t Pending::add(const OverflowCell& cell, std::uint64_t now_ns) {
  try {
    Entry& target = queued_entry(cell.tag, cell.type, now_ns);
    target.last_ns = now_ns;
    target.delta.merge(cell.delta);
    return 0;
  } catch (const std::bad_alloc&) {
    return calls_in(cell);
  }
}

void Pending::add_again(const Entry& old) {
  Entry& target = queued_entry(old.tag, old.type, old.first_ns);
  target.last_ns = old.last_ns;
  Delta delta = old.delta;
  delta.unbinned = delta.count - delta.nonfinite;
  if (target.delta.count > 0) delta.last = target.delta.last;  // what is there came later
  target.delta.merge(delta);
}

void Pending::pop() {
  Entry& done = front();
  done.delta = {};
  done.histogram.clear();
  done.is_queued = false;
  queue_.pop_front();
  ++popped_;
}

}  // namespace pcp::trace::client
