// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/slow_spans.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace pcp::trace::client {
namespace {

// For this time a trace has one fate.
constexpr std::uint64_t kSameFateNs = 10'000'000'000;

}  // namespace

// Drops captures that nobody asks for any more. Gives those for which the list waits.
CaptureBits SlowSpans::keep_what_waits(SpanPool::Index& list, const CaptureSet* set) {
  CaptureBits all = 0;
  list = share().filter(list, [&](CapturedSpan& span) {
    if (set == nullptr) return false;
    const auto epoch = static_cast<std::uint16_t>(span.epoch);
    span.context.set_capture_bits(set->slow() & set->valid_bits(span.capture_bits(), epoch));
    span.epoch = set->epoch();
    all |= span.capture_bits();
    return span.capture_bits() != 0;
  });
  return all;
}

void SlowSpans::settle(SpanPool::Index list, const CaptureSet* set, std::uint64_t now_ns) {
  const SpanPool::Facts facts = pool_.facts(list);
  const std::uint64_t trace = pool_.first(list).context.trace_low;
  CapturedSpan& first = pool_.first(list);
  held_.take(first, {.kept = facts.at_once & first.capture_bits()}, set, now_ns);
  first.context.set_capture_bits(first.capture_bits() & ~facts.at_once);
  const CaptureBits waits = keep_what_waits(list, set);
  CaptureBits slow = facts.slow;
  TreeRef around = facts.around;
  bool is_late = false;
  while (list != 0) {
    take_out(list, decide(slow & waits, trace, *set, now_ns), 0, *set, now_ns);
    if (list == 0 || around == 0 || is_late) break;
    const SlowTrees::Outcome outcome = trees_.outcome(around);
    if (outcome.is_open && trees_.wait(around, list, false, now_ns)) return;
    slow = outcome.slow;
    if (!outcome.is_open) around = outcome.around;
    is_late = !outcome.is_found;
  }
  // A part of one that has ended may be of a trace that is wanted later.
  const bool is_held = facts.around != 0 || facts.may_be_wanted;
  if (list != 0) take_out_rest(list, is_held ? waits : 0, *set, now_ns);
}

// A trace that is over the limit stays so for some time.
SlowSpans::OverLimit& SlowSpans::over_limit(std::uint64_t trace, std::uint64_t now_ns) {
  OverLimit* const found = over_limit_.find_or_make(trace);
  OverLimit& known = found != nullptr ? *found : without_memory_;
  if (found == nullptr) known = {};
  if (now_ns - known.since_ns > kSameFateNs) known = {.since_ns = now_ns};
  return known;
}

// A trace that is wanted stays so.
Fates SlowSpans::decide(CaptureBits slow, std::uint64_t trace, const CaptureSet& set,
                        std::uint64_t now_ns) {
  Fates fates;
  if (slow == 0) return fates;
  OverLimit& known = over_limit(trace, now_ns);
  const CaptureBits wanted = held_.wanted(trace, set);
  for_each_bit(slow, [&](std::size_t bit) {
    const CaptureBits mask = CaptureBits{1} << bit;
    const CaptureSet::Capture& asked = set.at(bit);
    const bool is_taken =
        (wanted & mask) != 0
            ? asked.limit.admits_the_rest(now_ns)
            : (known.bits & mask) == 0 &&
                  asked.limit.admits(asked.share, trace, now_ns) == SpanLimit::Answer::Taken;
    (is_taken ? fates.kept : fates.over_limit) |= mask;
  });
  known.bits |= fates.over_limit;
  if (fates.kept != 0) held_.want(trace, fates.kept, set, now_ns);
  return fates;
}

bool SlowSpans::look_at_open(const OpenEntries& entries, const CaptureSet& set,
                             std::uint64_t now_ns) {
  bool may_be_more = false;
  trees_.for_each_open(entries, [&](const SlowTrees::OpenTree& open) {
    const OpenEntry* const entry = entries.find(open.entry);
    if (entry == nullptr || entry->begun.load(std::memory_order_acquire) != open.begun) return;
    const Tag* const tag = entry->tag.load(std::memory_order_acquire);
    if (tag == nullptr || entry->begun.load(std::memory_order_relaxed) != open.begun) return;
    const CaptureBits open_ones =
        set.matching(*tag) & set.valid_bits(open.selected, static_cast<std::uint16_t>(open.epoch)) &
        ~held_.wanted(open.trace_low, set);
    // It may have begun after `now_ns`.
    const std::uint64_t begun_ns = std::min(ns_of(open.begun), now_ns);
    const CaptureBits slow = set.slow_ones(open_ones, now_ns - begun_ns, open.reasons);
    decide(slow, open.trace_low, set, now_ns);
    // A call that notes another reason rings.
    may_be_more |= slow != set.slow_ones(open_ones, UINT64_MAX, open.reasons);
  });
  return may_be_more;
}

// Takes decided spans out of the list. Nobody wants them for `fast`.
void SlowSpans::take_out(SpanPool::Index& list, const Fates& fates, CaptureBits fast,
                         const CaptureSet& set, std::uint64_t now_ns) {
  if ((fates.kept | fates.over_limit | fates.held | fast) == 0) return;
  list = share().filter(list, [&](CapturedSpan& span) {
    const CaptureBits bits = span.capture_bits();
    for_each_bit(bits & fates.kept, [&](std::size_t bit) { set.at(bit).limit.count(now_ns); });
    held_.take(span, {bits & fates.kept, bits & fates.over_limit, bits & fates.held}, &set, now_ns);
    span.context.set_capture_bits(bits & ~(fates.kept | fates.over_limit | fates.held | fast));
    return span.capture_bits() != 0;
  });
}

// Spans of a trace over its limit were missed, unless another process wants it.
void SlowSpans::take_out_rest(SpanPool::Index list, CaptureBits held, const CaptureSet& set,
                              std::uint64_t now_ns) {
  const std::uint64_t trace = pool_.first(list).context.trace_low;
  const OverLimit* const found = over_limit_.find(trace);
  const bool is_over = found != nullptr && now_ns - found->since_ns <= kSameFateNs;
  const CaptureBits over = is_over ? found->bits & ~held_.wanted(trace, set) : 0;
  take_out(list, {.over_limit = over, .held = held & ~over}, ~(held | over), set, now_ns);
}

void SlowSpans::hold_old(std::uint32_t entries, std::uint64_t until, const CaptureSet* set) {
  const std::uint64_t now = now_ns();
  trees_.take_old(entries, until, [&](SpanPool::Index list) {
    const CaptureBits waits = keep_what_waits(list, set);
    if (list != 0) take_out_rest(list, waits, *set, now);
  });
}

// If the pool is nearly full, the oldest quarter by time goes.
void SlowSpans::expire(std::uint32_t entries, const CaptureSet& set, std::uint64_t now_ns) {
  if (pool_.taken() <= SpanPool::kMost / 4 * 3) return;
  const std::uint64_t oldest = trees_.oldest_ns(entries, now_ns);
  hold_old(entries, oldest + (now_ns - oldest) / 4, &set);
}

}  // namespace pcp::trace::client
