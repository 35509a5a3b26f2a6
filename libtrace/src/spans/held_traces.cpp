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

// Estimated memory of a trace besides its spans.
constexpr std::size_t kAround = 128;

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

std::size_t bytes_of(const CapturedSpan& span) {
  return sizeof span + (span.notes != nullptr ? span.notes->bytes() : 0);
}

std::uint64_t hold_ns(const CaptureSet& set) {
  std::uint64_t slowest = 0;
  for_each_bit(set.relayed(),
               [&](std::size_t bit) { slowest = std::max(slowest, set.at(bit).filter.slower_ns); });
  return slowest + HeldTraces::kLeastHoldNs;
}

}  // namespace

void decide_part(const Decide& decide, CapturedSpan& span, CaptureBits bits, Outcome outcome) {
  const CaptureBits left = span.capture_bits() & ~bits;
  bits &= span.capture_bits();
  if (bits == 0) return;
  CapturedSpan part = left == 0 ? std::exchange(span, {}) : copy_of(span);
  part.context.set_capture_bits(bits);
  span.context.set_capture_bits(left);
  decide(std::move(part), outcome);
}

CaptureBits HeldTraces::wanted_bits(std::uint64_t hash, const CaptureSet& set) {
  const Bits* const found = wanted_.find(hash);
  return found != nullptr ? found->valid(set) : 0;
}

// Its limit was asked when the trace was first wanted, perhaps in another process. A whole trace
// may exceed it.
void HeldTraces::decide(CapturedSpan& span, CaptureBits wanted, const CaptureSet& set,
                        std::uint64_t now_ns) {
  CaptureBits over_limit = 0;
  for_each_bit(wanted & span.capture_bits(), [&](std::size_t bit) {
    SpanLimit& limit = set.at(bit).limit;
    if (limit.admits_the_rest(now_ns))
      limit.count(now_ns);
    else
      over_limit |= CaptureBits{1} << bit;
  });
  decide_part(decide_, span, over_limit, Outcome::OverLimit);
  decide_part(decide_, span, wanted, Outcome::Sent);
}

void HeldTraces::hold(CapturedSpan&& span, const CaptureSet& set, std::uint64_t now_ns) {
  const std::uint64_t hash = wire::hash_of_trace(span.context.trace_low);
  decide(span, wanted_bits(hash, set), set, now_ns);
  if (span.capture_bits() == 0) return;
  try {
    if (!held_.contains(hash)) in_order_.emplace_back(now_ns, hash);
    Held& held = held_.try_emplace(hash, Held{now_ns}).first->second;
    const std::size_t bytes = bytes_of(span) + (held.spans.empty() ? kAround : 0);
    held.spans.push_back(std::move(span));
    held.bytes += bytes;
    bytes_ += bytes;
  } catch (const std::bad_alloc&) {
    decide_(std::move(span), Outcome::NoRoom);  // it was not moved
  }
}

void HeldTraces::want(std::uint64_t trace_low, CaptureBits bits, bool tell, const CaptureSet& set,
                      std::uint64_t now_ns) {
  const std::uint64_t hash = wire::hash_of_trace(trace_low);
  const CaptureBits fresh = add_wanted(hash, bits, set, now_ns);
  if (fresh == 0 || !tell || (fresh & set.relayed()) == 0) return;
  try {
    news_.emplace_back(hash, Bits{fresh, set.epoch()});
  } catch (const std::bad_alloc&) {
    return;
  }
  if (news_.size() > kMostNews) news_.pop_front();
}

void HeldTraces::want(const wire::WantedTrace& wanted, const CaptureSet& set,
                      std::uint64_t now_ns) {
  add_wanted(wanted.hash, wanted.capture_bits & set.relayed(), set, now_ns);
}

// Gives those for which it was not wanted before.
CaptureBits HeldTraces::add_wanted(std::uint64_t hash, CaptureBits bits, const CaptureSet& set,
                                   std::uint64_t now_ns) {
  Bits* const known = wanted_.find_or_make(hash);
  if (known == nullptr) return 0;
  const CaptureBits before = known->valid(set);
  *known = {before | bits, set.epoch()};
  const CaptureBits fresh = bits & ~before;
  if (fresh == 0) return 0;
  count_gone(hash, fresh, set);
  const auto found = held_.find(hash);
  if (found == held_.end()) return fresh;
  Held& held = found->second;
  std::erase_if(held.spans, [&](CapturedSpan& span) {
    const std::size_t bytes = bytes_of(span);
    span.context.set_capture_bits(Bits{span.capture_bits(), span.epoch}.valid(set));
    span.epoch = set.epoch();
    decide(span, fresh, set, now_ns);
    if (span.capture_bits() != 0) return false;
    held.bytes -= bytes;
    bytes_ -= bytes;
    return true;
  });
  if (held.spans.empty()) {
    bytes_ -= held.bytes;
    held_.erase(found);
  }
  return fresh;
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
    decide_(std::move(missed), Outcome::WaitedTooLong);
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

// An earlier time in `in_order_` was of spans that are wanted meanwhile.
void HeldTraces::expire(const CaptureSet& set, std::uint64_t now_ns) {
  const std::uint64_t held_for = hold_ns(set);
  for (; !in_order_.empty(); in_order_.pop_front()) {
    const auto [since_ns, hash] = in_order_.front();
    if (bytes_ <= most_bytes_ && now_ns < since_ns + held_for) return;
    const auto found = held_.find(hash);
    if (found == held_.end() || found->second.since_ns != since_ns) continue;
    let_go(hash, found->second);
    held_.erase(found);
  }
}

void HeldTraces::let_go(std::uint64_t hash, const Held& held) {
  bytes_ -= held.bytes;
  Gone* const gone = gone_.find_or_make(hash);
  if (gone == nullptr) return;
  for (const CapturedSpan& span : held.spans) {
    gone->bits |= span.capture_bits();
    gone->epoch = span.epoch;
  }
  gone->spans += static_cast<std::uint32_t>(held.spans.size());
}

void HeldTraces::give_to_agent(const std::function<void(CapturedSpan&&)>& send) {
  std::size_t bytes = 0;
  for (auto next = in_order_.rbegin(); next != in_order_.rend(); ++next) {
    const auto found = held_.find(next->second);
    if (found == held_.end() || found->second.since_ns != next->first) continue;
    bytes += found->second.bytes;
    if (bytes > kMostForAgent) break;
    for (CapturedSpan& span : found->second.spans) {
      span.context.set_flags(span.context.flags() | kHeldFlag);
      send(std::move(span));
    }
  }
  clear();
}

void HeldTraces::clear() {
  held_.clear();
  in_order_.clear();
  news_.clear();
  bytes_ = 0;
}

}  // namespace pcp::trace::client
