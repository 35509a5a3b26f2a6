// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/drain.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "tags/description.hpp"

namespace pcp::trace::client {
namespace {

// Output iterator for the queue: *outlet++ = record. Prefetches each record's entry; the record is
// added after its neighbours have left the queue, too.
struct Outlet {
  const Pending& pending;
  Pending::Fetched* next;

  Outlet& operator*() { return *this; }
  Outlet& operator++() { return *this; }
  Outlet& operator++(int) { return *this; }
  // NOLINTNEXTLINE(misc-unconventional-assign-operator): an output iterator's
  void operator=(Record&& record) noexcept { *next++ = pending.fetch(record); }
};

}  // namespace

bool Drain::drain(Recorder& recorder, std::uint64_t now_ns) {
  const bool any = drain_records(recorder, recorder.queued(), now_ns);
  Overflow& overflow = recorder.overflow();
  if (!overflow.is_written()) return any;
  const bool more = drain_records(recorder, overflow.queued_before(), now_ns);
  return drain_cells(overflow, now_ns) || any || more;
}

bool Drain::drain_descriptions() {
  bool any = false;
  for (const TagDescription* each = take_new_descriptions(); each != nullptr; each = each->next)
    any |= pending_.mention(*each->tag);
  return any;
}

bool Drain::drain_records(Recorder& recorder, std::uint64_t until, std::uint64_t now_ns) {
  const bool any = recorder.dequeued() < until;
  Pending::Fetched some[64];
  while (recorder.dequeued() < until) {
    const std::size_t wanted =
        std::min<std::uint64_t>(until - recorder.dequeued(), std::size(some));
    pending_.make_room(wanted);
    const std::size_t got = recorder.dequeue(wanted, Outlet{pending_, some});
    const std::span<const Pending::Fetched> taken(some, got);
    pending_.add(taken, now_ns);
    if (totals_ != nullptr) totals_->add(taken, now_ns);
  }
  return any;
}

bool Drain::drain_cells(Overflow& overflow, std::uint64_t now_ns) {
  Overflow::Exchanged exchanged;
  do {
    const Overflow::Room room = overflow.needed_room();
    pending_.make_room(room.cells);
    exchanged = overflow.exchange(spare_, room);
  } while (exchanged == Overflow::Exchanged::NoRoom);
  if (exchanged == Overflow::Exchanged::Busy) return false;
  spare_.for_each([&](const OverflowCell& cell) { pending_.add(cell, now_ns); });
  if (totals_ != nullptr)
    spare_.for_each([&](const OverflowCell& cell) { totals_->add(cell, now_ns); });
  spare_.clear();
  return true;
}

}  // namespace pcp::trace::client
