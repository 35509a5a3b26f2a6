#include "pending.hpp"

#include <algorithm>
#include <new>

namespace pcp::trace::client {
namespace {

std::uint64_t calls_in(const OverflowCell& cell) { return cell.delta.count + cell.delta.aborts; }

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

// Not in add()'s loop, which is faster without all this.
[[gnu::noinline]] Pending::Entry* Pending::try_queued_entry(const Tag* tag, TraceType type,
                                                            std::uint64_t first_ns) {
  try {
    return &queued_entry(tag, type, first_ns);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::uint64_t Pending::add(std::span<const Arrival> arrivals, std::uint64_t now_ns) {
  std::uint64_t lost = 0;
  for (const auto& [announced, record] : arrivals) {
    Entry* target = announced;
    if (target == nullptr || target->last_ns == 0) [[unlikely]] {
      target = try_queued_entry(record.tag(), type_of(record.kind()), now_ns);
      if (target == nullptr) {
        ++lost;
        continue;
      }
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
  target.first_ns = std::min(target.first_ns, old.first_ns);
  target.last_ns = std::max(target.last_ns, old.last_ns);
  Delta delta = old.delta;
  delta.unbinned = delta.count - delta.nonfinite;
  if (target.delta.count > 0) delta.last = target.delta.last;  // what is there came later
  target.delta.merge(delta);
}

void Pending::pop() {
  Entry& done = front();
  done.delta = {};
  done.histogram.clear();
  done.last_ns = 0;
  done.is_queued = false;
  queue_.pop_front();
  ++popped_;
}

}  // namespace pcp::trace::client
