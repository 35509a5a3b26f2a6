// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/captures.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace pcp::trace::client {
namespace {

constexpr unsigned kIdBits = 56;

// Continues in forked children: their tags keep what the parent cached in captured_by. Orders
// nothing else.
std::atomic<CaptureSet::Epoch> last_epoch{0};

CaptureSet::Epoch next_epoch() {
  CaptureSet::Epoch epoch = 0;
  while (epoch == 0) epoch = last_epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  return epoch;
}

}  // namespace

CaptureSet::CaptureSet(std::uint64_t control) : epoch_(next_epoch()), control_(control) {}

void CaptureSet::add(const wire::Capture& capture, const wire::CaptureFilter& filter,
                     std::uint32_t most_a_second, Epoch since) {
  Asked& asked = asked_[capture.place];
  asked.id = capture.id;
  asked.since = since != 0 ? since : epoch_;
  asked.filter = filter;
  asked.share = (std::uint64_t{1} << kIdBits) - wire::share_threshold(filter);
  asked.limit.set(std::min(filter.limit, most_a_second));
  const Places bit = Places{1} << capture.place;
  places_ |= bit;
  if (filter.slower_ns > 0) slow_ |= bit;
  if (filter.points) points_ |= bit;
  if (filter.observations) observations_ |= bit;
  if (filter.counters) counters_ |= bit;
}

Places CaptureSet::asked_since(Places places, std::uint16_t epoch) const {
  const Epoch ago = static_cast<std::uint16_t>(epoch_ - epoch);
  Places still = 0;
  for_each_place(places, [&](std::size_t place) {
    if (epoch_ - asked_[place].since >= ago) still |= Places{1} << place;
  });
  return still;
}

Places CaptureSet::look_up(const Tag& tag) const {
  Places matching = 0;
  for_each_place(places_, [&](std::size_t place) {
    if (wire::matches_tag(asked_[place].filter, name_of(tag))) matching |= Places{1} << place;
  });
  tag.captured_by.store(std::uint64_t{epoch_} << 32 | matching, std::memory_order_relaxed);
  return matching;
}

Places CaptureSet::admit(Places places, std::uint64_t trace_low, Places& over_limit) const {
  Places admitted = 0;
  for_each_place(places, [&](std::size_t place) {
    const Asked& asked = asked_[place];
    const SpanLimit& limit = asked.limit;
    if (!SpanLimit::is_asked_for(asked.share, trace_low)) return;
    const Places bit = Places{1} << place;
    if ((over_limit & bit) == 0 &&
        ((slow_ & bit) != 0 || limit.admits_from_now_on(asked.share, trace_low) ||
         limit.admits(asked.share, trace_low, coarse_now_ns()) == SpanLimit::Answer::Taken)) {
      admitted |= bit;
    } else {
      over_limit |= bit;
      asked.missed_limit.fetch_add(1, std::memory_order_relaxed);
    }
  });
  return admitted;
}

void CaptureSet::count(Places places, std::uint64_t now_ns) const {
  for_each_place(places & ~slow_, [&](std::size_t place) { asked_[place].limit.count(now_ns); });
}

void CaptureSet::miss_for_want_of_room(Places places, std::uint64_t spans) const {
  for_each_place(places, [&](std::size_t place) {
    asked_[place].missed_full.fetch_add(spans, std::memory_order_relaxed);
  });
}

Places CaptureSet::wanting(wire::SpanKind kind) const {
  switch (kind) {
    case wire::SpanKind::Point:
      return points_;
    case wire::SpanKind::Observe:
      return observations_;
    case wire::SpanKind::Counter:
    case wire::SpanKind::Add:
      return counters_;
    default:
      return places_;
  }
}

void Captures::publish(std::unique_ptr<const CaptureSet> set,
                       const std::vector<const LooksAtCaptures*>& threads) {
  if (owned_ == nullptr && set == nullptr) return;
  // Everything that may throw comes first.
  before_.reserve(before_.size() + 1);
  std::vector<Looking> looking;
  looking.reserve(threads.size());
  if (set != nullptr) epoch_.store(set->epoch(), std::memory_order_relaxed);
  current_.store(set.get());
  std::swap(owned_, set);
  for (const LooksAtCaptures* const looks : threads)
    if (const std::uint64_t now = looks->load(); now % 2 == 1) looking.push_back({looks, now});
  if (set != nullptr) before_.push_back({std::move(set), std::move(looking)});
  set_capturing(owned_ != nullptr);
}

}  // namespace pcp::trace::client
