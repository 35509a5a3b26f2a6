// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/recovery.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

namespace pcp::trace::agent {

namespace {

// Handed over in one step: other threads wait for the lock of the spans meanwhile.
constexpr std::size_t kAtOnce = 500;

}  // namespace

bool Recovery::go_on() {
  if (!is_read_) {
    is_read_ = !reader_.read_on([this](const BoxSpan& span) { take(span); });
    if (is_read_) want();
    return true;
  }
  if (hand_some_over()) return true;
  count();
  return false;
}

Recovery::Key Recovery::key_of(const wire::Span& span) {
  if (!wire::is_event(span.kind)) return {span.trace.high, span.trace.low, span.span, {}, 0, 0, 0};
  return {span.trace.high, span.trace.low, span.span,
          span.kind,       span.begin_ns,  std::bit_cast<std::uint64_t>(span.value),
          span.tag_id};
}

std::size_t Recovery::bytes_of(const StoredSpan& span) {
  return sizeof(Found) + sizeof(Known::value_type) + span.attributes.size() + span.links.size() +
         span.reason.size();
}

// First come the spans that know most: of one that has ended, nothing is left to its open entry.
void Recovery::take(const BoxSpan& span) {
  if (span.control > process_.spans.told) return;
  const auto valid = [&](CaptureBits bits) {
    return intake_.captures().valid_bits(bits, span.control, process_.uid);
  };
  Known::iterator known = known_.find(key_of(span.span));
  const bool is_known = known != known_.end();
  if (span.was_open() && is_known) return;
  note_reasons(span, valid(span.wants_trace), valid(span.may_want_it));
  const CaptureBits bits = valid(span.span.capture_bits) & ~(is_known ? known->second : 0);
  if (bits == 0) return;
  if (!is_known) known = known_.try_emplace(key_of(span.span)).first;
  known->second |= bits;
  Found found{intake_.stored(span.span, span.tag, process_.split, process_.spans.source),
              span.is_sure & bits, known};
  found.span.capture_bits = bits;
  wire::for_each_bit(bits, [&](std::size_t bit) {
    if (!intake_.captures().at(bit).has_reason()) found.is_sure |= CaptureBits{1} << bit;
  });
  bytes_ += bytes_of(found.span);
  found_.push_back(std::move(found));
  while (bytes_ > kMostBytes) drop_oldest();
}

void Recovery::note_reasons(const BoxSpan& span, CaptureBits wanting, CaptureBits perhaps) {
  CaptureBits wanted = 0;
  wire::for_each_bit(wanting | perhaps, [&](std::size_t bit) {
    const ActiveCapture& capture = intake_.captures().at(bit);
    const bool has_all = (capture.asked.reasons & ~(span.reasons | wire::kIfDied)) == 0 &&
                         span.span.duration_ns >= capture.slower_ns;
    const CaptureBits mask = CaptureBits{1} << bit;
    if (capture.has_reason() && ((wanting & mask) != 0 || has_all)) wanted |= mask;
  });
  if (wanted == 0) return;
  Wanted& trace = wanted_[wire::hash_of_trace(span.span.trace.low)];
  trace.bits |= wanted;
  trace.longest_ns = std::max(trace.longest_ns, span.span.duration_ns);
}

void Recovery::drop_oldest() {
  Found& oldest = found_.front();
  const CaptureBits bits = oldest.span.capture_bits;
  wire::for_each_bit(bits, [&](std::size_t bit) { ++counts_[bit].dropped; });
  if ((oldest.known->second &= ~bits) == 0) known_.erase(oldest.known);
  bytes_ -= bytes_of(oldest.span);
  found_.pop_front();
}

// The longest come first: there may be more than the limit.
void Recovery::want() {
  std::vector<std::pair<std::uint64_t, Wanted>> all(wanted_.begin(), wanted_.end());
  std::ranges::sort(all, std::greater<>(), [](const auto& each) { return each.second.longest_ns; });
  std::vector<wire::WantedTrace> traces;
  traces.reserve(all.size());
  for (const auto& [hash, wanted] : all) traces.push_back({hash, wanted.bits});
  intake_.want(traces, process_.spans.told, sender());
}

// False if there is nothing.
bool Recovery::hand_some_over() {
  std::vector<StoredSpan> sure;
  std::vector<StoredSpan> undecided;
  for (std::size_t i = 0; i < kAtOnce && !found_.empty(); ++i, found_.pop_front()) {
    Found& found = found_.front();
    wire::for_each_bit(found.is_sure, [&](std::size_t bit) { ++counts_[bit].handed_over; });
    if (const CaptureBits rest = found.span.capture_bits & ~found.is_sure; rest != 0)
      undecided.emplace_back(found.span).capture_bits = rest;
    found.span.capture_bits = found.is_sure;
    if (found.is_sure != 0) sure.push_back(std::move(found.span));
  }
  intake_.hand_over(sure, undecided, process_.spans.told, sender());
  return !found_.empty();
}

// As the process would have counted in its next EVENTS.
void Recovery::count() {
  for (const auto& [id, said] : process_.spans.said) {
    const auto bit = intake_.captures().bit_of(id);
    if (!bit) continue;
    wire::CaptureCount count = reader_.missed_of(id);
    count.missed_full += counts_[*bit].dropped;
    count.captured = said.last.captured + counts_[*bit].handed_over;
    for (const auto missed :
         {&wire::CaptureCount::missed_full, &wire::CaptureCount::missed_limit,
          &wire::CaptureCount::missed_waiting, &wire::CaptureCount::missed_away}) {
      count.*missed = std::max(count.*missed, said.last.*missed);
      count.captured += count.*missed - said.last.*missed;
    }
    intake_.note(count, process_.spans, sender());
  }
}

}  // namespace pcp::trace::agent
