#include "pending.hpp"

#include <new>

namespace pcp::trace::client {

Pending::Entry& Pending::entry(const Tag* tag, TraceType type, std::uint64_t first_ns,
                               std::uint64_t last_ns) {
  if (tag->id >= by_tag_.size()) by_tag_.resize(tag->id + 1);
  Entry*& place = by_tag_[tag->id][index_of(type)];
  if (place == nullptr) {
    place = &entries_.emplace_back();
    place->tag = tag;
    place->type = type;
  }
  if (place->delta.empty()) {
    queue_.push_back(place);
    place->first_ns = first_ns;
  }
  place->last_ns = last_ns;
  return *place;
}

void Pending::add(const Record& record, std::uint64_t now_ns) {
  Entry& target = entry(record.tag, type_of(record.kind), now_ns, now_ns);
  if (!add_to(target.delta, record)) return;
  try {
    target.histogram.add(record.value);
  } catch (const std::bad_alloc&) {  // one value that percentiles miss; the sender counts it
  }
}

void Pending::add(const OverflowCell& cell, std::uint64_t now_ns) {
  Entry& target = entry(cell.tag, cell.type, now_ns, now_ns);
  target.delta.merge(cell.delta);
}

void Pending::add_again(const Entry& old) {
  Entry& target = entry(old.tag, old.type, old.first_ns, old.last_ns);
  Delta delta = old.delta;
  delta.unbinned = delta.count - delta.nonfinite;
  if (target.delta.count > 0) delta.last = target.delta.last;  // what is there came later
  target.delta.merge(delta);
}

void Pending::pop() {
  Entry& done = front();
  done.delta = {};
  done.histogram.clear();
  queue_.pop_front();
  ++popped_;
}

}  // namespace pcp::trace::client
