// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/held_traces.hpp"

#include <algorithm>
#include <new>

namespace pcp::trace::client {
namespace {

using Outcome = CaptureBooks::Outcome;

// The limit of traces that the agent was not told of, for want of a connection.
constexpr std::size_t kMostNews = 1'024;

// The agent holds so much of a process that has ended.
constexpr std::size_t kMostForAgent = 256u << 10;

// Without its notes if there is no memory for them.
CapturedSpan copy_of(const CapturedSpan& span) {
  return {.tag = span.tag,
          .notes = span.notes != nullptr ? span.notes->copy() : nullptr,
          .context = span.context,
          .begin_ns = span.begin_ns,
          .duration_ns = span.duration_ns,
          .value = span.value,
          .epoch = span.epoch,
          .tid = span.tid,
          .kind = span.kind,
          .aborted = span.aborted};
}

std::uint64_t hold_ns(const CaptureSet& set) {
  std::uint64_t longest = 0;
  for_each_bit(set.slow(), [&](std::size_t bit) {
    const wire::CaptureFilter& filter = set.at(bit).filter;
    longest = std::max({longest, filter.slower_ns + HeldTraces::kLeastHoldNs,
                        filter.reasons != 0 ? HeldTraces::kHoldForReasonNs : 0});
  });
  return longest;
}

}  // namespace

void decide_part(const Decide& decide, CapturedSpan& span, CaptureBits bits, Outcome outcome,
                 std::string_view fields) {
  const CaptureBits left = span.capture_bits() & ~bits;
  bits &= span.capture_bits();
  if (bits == 0) return;
  CapturedSpan part = left == 0 ? std::exchange(span, {}) : copy_of(span);
  part.context.set_capture_bits(bits);
  span.context.set_capture_bits(left);
  decide(std::move(part), outcome, fields);
}

wire::Span changing_part(const CapturedSpan& span) {
  wire::Span out;
  out.tag_id = span.tag->id;
  out.trace.low = span.context.trace_low;
  out.flags = static_cast<std::uint32_t>(span.context.flags() & kKnownFlags) |
              (span.context.is_parent_elsewhere() ? wire::kParentIsElsewhere : 0) |
              ((span.context.flags() & kHeldFlag) != 0 ? wire::kIsHeld : 0) |
              ((span.context.flags() & kWantedFlag) != 0 ? wire::kIsWanted : 0);
  out.capture_bits = span.capture_bits();
  return out;
}

void add_lasting_part(const CapturedSpan& span, std::int64_t wall_minus_monotonic,
                      wire::Span& out) {
  out.kind = span.kind;
  out.begin_ns =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(span.begin_ns) + wall_minus_monotonic);
  out.duration_ns = span.duration_ns;
  out.trace.high = span.context.trace_high;
  out.span = wire::is_event(span.kind) ? span.context.outgoing() : span.context.own;
  out.parent = wire::is_event(span.kind) ? 0 : span.context.parent;
  out.tid = span.tid;
  out.aborted = span.aborted;
  out.value = span.value;
  if (span.notes != nullptr) span.notes->fill(out);
}

CaptureBits HeldTraces::wanted_bits(std::uint64_t hash, const CaptureSet& set) {
  const Bits* const found = wanted_.find(hash);
  return found != nullptr ? found->valid(set) : 0;
}

// Its limit was asked when the trace was first wanted, perhaps in another process. A whole trace
// may exceed it.
void HeldTraces::decide(CapturedSpan& span, CaptureBits wanted, const CaptureSet& set,
                        std::uint64_t now_ns, std::string_view fields) {
  CaptureBits over_limit = 0;
  for_each_bit(wanted & span.capture_bits(), [&](std::size_t bit) {
    SpanLimit& limit = set.at(bit).limit;
    if (limit.admits_the_rest(now_ns))
      limit.count(now_ns);
    else
      over_limit |= CaptureBits{1} << bit;
  });
  decide_part(decide_, span, over_limit, Outcome::OverLimit);
  decide_part(decide_, span, wanted, Outcome::Sent, fields);
}

// Without its lasting part.
CapturedSpan HeldTraces::span_of(const SpanRing::Record& record, const CaptureSet& set) const {
  CapturedSpan span{.tag = tags_[record.tag_and_flags >> 8],
                    .context = {.trace_low = record.trace_low},
                    .epoch = set.epoch()};
  span.context.set_flags(record.tag_and_flags & TraceContext::kAllFlags);
  span.context.set_capture_bits(Bits{record.capture_bits, record.epoch}.valid(set));
  return span;
}

void HeldTraces::hold(CapturedSpan&& span, const CaptureSet& set, std::uint64_t now_ns,
                      std::int64_t wall_minus_monotonic) {
  const std::uint64_t hash = wire::hash_of_trace(span.context.trace_low);
  decide(span, wanted_bits(hash, set), set, now_ns);
  if (span.capture_bits() == 0) return;
  try {
    const std::uint32_t id = span.tag->id;
    if (tags_.size() <= id) tags_.resize(id + 1);
    tags_[id] = span.tag;
    wire::Span lasting;
    add_lasting_part(span, wall_minus_monotonic, lasting);
    fields_.clear();
    wire::append_span_fields(fields_, lasting);
    ring_.append({.epoch = static_cast<std::uint16_t>(span.epoch),
                  .capture_bits = span.capture_bits(),
                  .tag_and_flags = id << 8 | static_cast<std::uint32_t>(span.context.flags()),
                  .since_ns = now_ns,
                  .trace_low = span.context.trace_low},
                 hash, fields_, [this] { let_go_oldest(); });
  } catch (const std::bad_alloc&) {
    decide_(std::move(span), Outcome::NoRoom, {});
  }
}

void HeldTraces::want(std::uint64_t trace_low, CaptureBits bits, const CaptureSet& set,
                      std::uint64_t now_ns) {
  const std::uint64_t hash = wire::hash_of_trace(trace_low);
  Wanted* const wanted = add_wanted(hash, bits, set, now_ns);
  if (wanted == nullptr || !do_traces_cross()) return;
  const CaptureBits news = bits & ~wanted->told & set.relayed();
  if (news == 0) return;
  wanted->told |= news;
  try {
    news_.emplace_back(hash, Bits{news, set.epoch()});
  } catch (const std::bad_alloc&) {
    return;
  }
  if (news_.size() > kMostNews) news_.pop_front();
}

void HeldTraces::want(const wire::WantedTrace& trace, const CaptureSet& set, std::uint64_t now_ns) {
  const CaptureBits bits = trace.capture_bits & set.relayed();
  if (Wanted* const wanted = add_wanted(trace.hash, bits, set, now_ns)) wanted->told |= bits;
}

// Null if there is no memory.
HeldTraces::Wanted* HeldTraces::add_wanted(std::uint64_t hash, CaptureBits bits,
                                           const CaptureSet& set, std::uint64_t now_ns) {
  Wanted* const known = wanted_.find_or_make(hash);
  if (known == nullptr) return nullptr;
  const CaptureBits before = known->valid(set);
  *known = {{before | bits, set.epoch()}, known->told & before};
  if (const CaptureBits fresh = bits & ~before; fresh != 0) {
    count_gone(hash, fresh, set);
    ring_.for_each_of(hash, [&](SpanRing::Record& record) {
      CapturedSpan span = span_of(record, set);
      decide(span, fresh, set, now_ns, record.fields());
      record.capture_bits = span.capture_bits();
      record.epoch = static_cast<std::uint16_t>(set.epoch());
    });
  }
  return known;
}

void HeldTraces::count_gone(std::uint64_t hash, CaptureBits wanted, const CaptureSet& set) {
  Gone* const gone = gone_.find(hash);
  if (gone == nullptr) return;
  const CaptureBits bits = gone->valid(set) & wanted;
  if (bits == 0) return;
  for (std::uint32_t i = 0; i < gone->spans; ++i) {
    CapturedSpan missed;
    missed.context.set_capture_bits(bits);
    missed.epoch = set.epoch();
    decide_(std::move(missed), Outcome::WaitedTooLong, {});
  }
  gone->bits &= ~bits;
}

void HeldTraces::take_news(const CaptureSet& set, std::size_t most,
                           std::vector<wire::WantedTrace>& out) {
  for (; !news_.empty() && out.size() < most; news_.pop_front()) {
    const auto& [hash, bits] = news_.front();
    if (const CaptureBits valid = bits.valid(set)) out.push_back({hash, valid});
  }
}

void HeldTraces::expire(const CaptureSet& set, std::uint64_t now_ns) {
  const std::uint64_t held_for = hold_ns(set);
  while (!ring_.empty() &&
         (ring_.oldest().capture_bits == 0 || now_ns >= ring_.oldest().since_ns + held_for))
    let_go_oldest();
  if (ring_.empty()) drop_held();
}

void HeldTraces::let_go_oldest() {
  const SpanRing::Record& oldest = ring_.oldest();
  if (oldest.capture_bits != 0)
    if (Gone* const gone = gone_.find_or_make(wire::hash_of_trace(oldest.trace_low))) {
      gone->bits |= oldest.capture_bits;
      gone->epoch = oldest.epoch;
      ++gone->spans;
    }
  ring_.remove_oldest();
}

void HeldTraces::give_to_agent(const CaptureSet& set) {
  ring_.for_each_of_last(kMostForAgent, [&](const SpanRing::Record& record) {
    CapturedSpan span = span_of(record, set);
    span.context.set_flags(span.context.flags() | kHeldFlag);
    decide_part(decide_, span, span.capture_bits(), Outcome::Sent, record.fields());
  });
  drop_held();  // the agent is still to be told of what is wanted
}

void HeldTraces::drop_held() {
  ring_.clear();
  tags_ = {};
}

void HeldTraces::clear() {
  drop_held();
  wanted_.clear();
  gone_.clear();
  news_.clear();
}

}  // namespace pcp::trace::client
