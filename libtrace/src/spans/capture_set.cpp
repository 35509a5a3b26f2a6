// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/capture_set.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace pcp::trace::client {
namespace {

// Continues in forked children: their tags keep what the parent cached in captured_by. Orders
// nothing else.
std::atomic<CaptureSet::Epoch> last_epoch{0};

CaptureSet::Epoch next_epoch() {
  CaptureSet::Epoch epoch = 0;
  while (epoch == 0) epoch = last_epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  return epoch;
}

}  // namespace

CaptureSet::CaptureSet(std::uint64_t control, BlackBox* box)
    : epoch_(next_epoch()), control_(control), box_(box) {}

void CaptureSet::add(const wire::Capture& capture, const wire::CaptureFilter& filter,
                     std::uint32_t most_a_second, Epoch since) {
  Capture& asked = asked_[capture.bit];
  asked.missed =
      box_ != nullptr ? box_->make_missed(capture.id) : std::make_shared<wire::box::Missed>();
  asked.id = capture.id;
  asked.since = since != 0 ? since : epoch_;
  asked.filter = filter;
  asked.share = wire::kAllIds - wire::share_threshold(filter);
  asked.limit.set(std::min(filter.limit, most_a_second));
  const CaptureBits mask = CaptureBits{1} << capture.bit;
  bits_ |= mask;
  if (filter.has_reason()) slow_ |= mask;
  if (filter.points) points_ |= mask;
  if (filter.observations) observations_ |= mask;
  if (filter.counters) counters_ |= mask;
}

void CaptureSet::go_on_from(const CaptureSet& before, std::size_t bit) {
  asked_[bit].limit.go_on_from(before.at(bit).limit);
}

bool CaptureSet::has_missed(std::size_t bit) const {
  const wire::box::Missed& missed = *asked_[bit].missed;
  return missed.full.load(std::memory_order_relaxed) > 0 ||
         missed.limit.load(std::memory_order_relaxed) > 0;
}

CaptureBits CaptureSet::valid_since(CaptureBits bits, std::uint16_t epoch) const {
  const Epoch ago = static_cast<std::uint16_t>(epoch_ - epoch);
  CaptureBits still = 0;
  for_each_bit(bits, [&](std::size_t bit) {
    if (epoch_ - asked_[bit].since >= ago) still |= CaptureBits{1} << bit;
  });
  return still;
}

CaptureBits CaptureSet::look_up(const Tag& tag) const {
  CaptureBits matching = 0;
  for_each_bit(bits_, [&](std::size_t bit) {
    if (wire::matches_tag(asked_[bit].filter, name_of(tag))) matching |= CaptureBits{1} << bit;
  });
  if (box_ != nullptr) box_->note_tag(tag);
  tag.captured_by.store(std::uint64_t{epoch_} << 32 | matching, std::memory_order_relaxed);
  return matching;
}

CaptureBits CaptureSet::admit(CaptureBits bits, std::uint64_t trace_low,
                              CaptureBits& left_out) const {
  CaptureBits admitted = 0;
  CaptureBits over_limit = 0;
  for_each_bit(bits, [&](std::size_t bit) {
    const Capture& asked = asked_[bit];
    const SpanLimit& limit = asked.limit;
    if (!SpanLimit::is_asked_for(asked.share, trace_low)) return;
    const CaptureBits mask = CaptureBits{1} << bit;
    const bool is_taken =
        (slow_ & mask) != 0 || limit.admits_from_now_on(asked.share, trace_low) ||
        limit.admits(asked.share, trace_low, coarse_now_ns()) == SpanLimit::Answer::Taken;
    (is_taken ? admitted : over_limit) |= mask;
  });
  miss_for_limit(over_limit);
  left_out |= over_limit;
  return admitted;
}

void CaptureSet::count(CaptureBits bits, std::uint64_t now_ns) const {
  for_each_bit(bits & ~slow_, [&](std::size_t bit) { asked_[bit].limit.count(now_ns); });
}

void CaptureSet::miss_for_want_of_room(CaptureBits bits, std::uint64_t spans) const {
  for_each_bit(bits, [&](std::size_t bit) {
    asked_[bit].missed->full.fetch_add(spans, std::memory_order_relaxed);
  });
}

void CaptureSet::miss_for_limit(CaptureBits bits) const {
  for_each_bit(bits, [&](std::size_t bit) {
    asked_[bit].missed->limit.fetch_add(1, std::memory_order_relaxed);
  });
}

CaptureBits CaptureSet::matching(wire::SpanKind kind) const {
  switch (kind) {
    case wire::SpanKind::Point:
      return points_;
    case wire::SpanKind::Observe:
      return observations_;
    case wire::SpanKind::Counter:
    case wire::SpanKind::Add:
      return counters_;
    default:
      return bits_;
  }
}

void PublishedCaptures::publish(std::unique_ptr<const CaptureSet> set) {
  if (owned_ == nullptr && set == nullptr) return;
  before_.reserve(before_.size() + 1);  // may throw
  if (set != nullptr) epoch_.store(set->epoch(), std::memory_order_relaxed);
  current_.store(set.get());
  std::swap(owned_, set);
  if (set != nullptr) before_.push_back({std::move(set)});
  set_capturing(owned_ != nullptr);
}

}  // namespace pcp::trace::client
