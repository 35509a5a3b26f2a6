// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/taken_spans.hpp"

#include <atomic>

namespace pcp::trace::client {

// All but what may change before it is sent, or what finds it.
void TakenSpans::encode(const CapturedSpan& span) {
  wire::Span out;
  out.kind = span.kind;
  out.begin_ns =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(span.begin_ns) + wall_minus_monotonic_);
  out.duration_ns = span.duration_ns;
  out.trace.high = span.context.trace_high;
  out.span = wire::is_event(span.kind) ? span.context.outgoing() : span.context.own;
  out.parent = wire::is_event(span.kind) ? 0 : span.context.parent;
  out.tid = span.tid;
  out.aborted = span.aborted;
  out.value = span.value;
  if (span.notes != nullptr) span.notes->fill(out);
  fields_.clear();
  wire::append_span_fields(fields_, out);
  if (tags_.size() <= span.tag->id) tags_.resize(span.tag->id + 1);
  tags_[span.tag->id] = span.tag;
}

void TakenSpans::append(const Ready& ready, std::string& body) const {
  TraceContext context;
  context.set_flags(ready.record->tag_and_flags & TraceContext::kAllFlags);
  wire::Span out;
  out.tag_id = ready.record->tag_and_flags >> 8;
  out.trace.low = ready.record->trace_low;
  out.flags = static_cast<std::uint32_t>(context.flags() & kKnownFlags) |
              (context.is_parent_elsewhere() ? wire::kParentIsElsewhere : 0) |
              ((context.flags() & kWantedFlag) != 0 ? wire::kIsWanted : 0) |
              (ready.is_held ? wire::kIsHeld : 0);
  out.capture_bits = ready.bits;
  body.reserve(body.size() + wire::kMaxSpanBytes);
  wire::append_span(body, out, SpanRing::fields(*ready.record));
}

void TakenSpans::send(Position position, CaptureBits bits) {
  Record& record = ring_.at(position);
  if (bits == 0) return;
  if (record.to_send == 0) ready_.push_back({position, false});
  record.to_send |= bits;
  std::atomic_signal_fence(std::memory_order_release);  // a reader of the box finds it somewhere
  record.undecided &= ~bits;
}

void TakenSpans::send_undecided(std::size_t most_bytes) {
  ring_.for_each([&](Position position, Record& record) {
    if (ring_.bytes_since(position) <= most_bytes)
      ready_.push_back({position, true});
    else
      record.undecided &= record.in_flight;
  });
}

void TakenSpans::forget_undecided() {
  ring_.for_each([](Position, Record& record) {
    record.in_flight &= ~record.undecided;
    record.undecided = 0;
  });
  let_go_of_settled();
  if (ring_.empty()) tags_ = {};
}

bool TakenSpans::next(Ready& next) {
  for (; !ready_.empty(); ready_.pop_front()) {
    const Place& place = ready_.front();
    if (!ring_.has(place.position)) continue;
    Record& record = ring_.at(place.position);
    next = {&record, place.is_held, place.is_held ? still_here(record) : record.to_send};
    if (next.bits != 0) return true;
  }
  return false;
}

TakenSpans::Place TakenSpans::remove_next(const std::uint64_t* sequence) {
  const Place place = ready_.front();
  ready_.pop_front();
  Record& record = ring_.at(place.position);
  CaptureBits& bits = place.is_held ? record.undecided : record.to_send;
  if (sequence != nullptr) {
    record.sequence = static_cast<std::uint32_t>(*sequence);
    std::atomic_signal_fence(std::memory_order_release);
    record.in_flight |= bits;
    std::atomic_signal_fence(std::memory_order_release);
  }
  if (sequence == nullptr || !place.is_held) bits = 0;
  return place;
}

void TakenSpans::settle(const std::vector<Place>& in_flight) {
  for (const Place& place : in_flight) {
    if (!ring_.has(place.position)) continue;
    Record& record = ring_.at(place.position);
    if (place.is_held) record.undecided = 0;
    std::atomic_signal_fence(std::memory_order_release);
    record.in_flight = 0;
  }
  let_go_of_settled();
}

}  // namespace pcp::trace::client
