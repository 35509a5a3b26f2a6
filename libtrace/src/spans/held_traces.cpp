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

// Spans of a trace are held together if they come within this time, at most so many.
constexpr std::uint64_t kTogetherNs = 1'000'000'000;
constexpr std::size_t kMostTogether = 64;

// Estimated memory of these besides the spans.
constexpr std::size_t kAroundHeld = 160;

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

std::size_t bytes_of_notes(const CapturedSpan& span) {
  return span.notes != nullptr ? span.notes->bytes() : 0;
}

std::uint64_t hold_ns(const CaptureSet& set) {
  std::uint64_t longest = 0;
  for_each_bit(set.relayed(), [&](std::size_t bit) {
    const wire::CaptureFilter& filter = set.at(bit).filter;
    longest = std::max({longest, filter.slower_ns + HeldTraces::kLeastHoldNs,
                        filter.reasons != 0 ? HeldTraces::kHoldForReasonNs : 0});
  });
  return longest;
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

HeldTraces::AllHeld::iterator HeldTraces::find_held(std::uint64_t hash, std::uint64_t since_ns) {
  const auto [first, last] = held_.equal_range(hash);
  const auto found =
      std::find_if(first, last, [&](const auto& each) { return each.second.since_ns == since_ns; });
  return found != last ? found : held_.end();
}

void HeldTraces::hold(CapturedSpan&& span, const CaptureSet& set, std::uint64_t now_ns) {
  const std::uint64_t hash = wire::hash_of_trace(span.context.trace_low);
  decide(span, wanted_bits(hash, set), set, now_ns);
  if (span.capture_bits() == 0) return;
  const auto [first, last] = held_.equal_range(hash);
  auto place = std::find_if(first, last, [&](const auto& each) {
    return now_ns - each.second.since_ns < kTogetherNs && each.second.spans.size() < kMostTogether;
  });
  try {
    if (place == last) {
      in_order_.emplace_back(now_ns, hash);  // first: without the rest it does no harm
      place = held_.emplace(hash, Held{now_ns, kAroundHeld});
      bytes_ += kAroundHeld;
    }
    Held& held = place->second;
    const std::size_t notes = bytes_of_notes(span);
    const std::size_t room = held.spans.capacity();
    held.spans.push_back(std::move(span));
    const std::size_t bytes = notes + (held.spans.capacity() - room) * sizeof(CapturedSpan);
    held.bytes += bytes;
    bytes_ += bytes;
  } catch (const std::bad_alloc&) {
    decide_(std::move(span), Outcome::NoRoom);  // it was not moved
  }
  while (bytes_ > most_bytes_) let_go_oldest();
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
    const auto [first, last] = held_.equal_range(hash);
    for (auto next = first; next != last;) decide_held(next++, fresh, set, now_ns);
  }
  return known;
}

void HeldTraces::decide_held(AllHeld::iterator which, CaptureBits wanted, const CaptureSet& set,
                             std::uint64_t now_ns) {
  Held& held = which->second;
  std::erase_if(held.spans, [&](CapturedSpan& span) {
    const std::size_t notes = bytes_of_notes(span);
    span.context.set_capture_bits(Bits{span.capture_bits(), span.epoch}.valid(set));
    span.epoch = set.epoch();
    decide(span, wanted, set, now_ns);
    if (span.capture_bits() != 0) return false;
    held.bytes -= notes;
    bytes_ -= notes;
    return true;
  });
  if (!held.spans.empty()) return;
  bytes_ -= held.bytes;
  held_.erase(which);
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

void HeldTraces::expire(const CaptureSet& set, std::uint64_t now_ns) {
  const std::uint64_t held_for = hold_ns(set);
  while (!in_order_.empty() && now_ns >= in_order_.front().first + held_for) let_go_oldest();
}

// Some in `in_order_` are wanted meanwhile.
void HeldTraces::let_go_oldest() {
  const auto [since_ns, hash] = in_order_.front();
  in_order_.pop_front();
  const auto found = find_held(hash, since_ns);
  if (found == held_.end()) return;
  const Held& held = found->second;
  if (Gone* const gone = gone_.find_or_make(hash)) {
    for (const CapturedSpan& span : held.spans) {
      gone->bits |= span.capture_bits();
      gone->epoch = span.epoch;
    }
    gone->spans += static_cast<std::uint32_t>(held.spans.size());
  }
  bytes_ -= held.bytes;
  held_.erase(found);
}

void HeldTraces::give_to_agent(const std::function<void(CapturedSpan&&)>& send) {
  std::size_t bytes = 0;
  for (auto next = in_order_.rbegin(); next != in_order_.rend(); ++next) {
    const auto found = find_held(next->second, next->first);
    if (found == held_.end()) continue;
    bytes += found->second.bytes;
    if (bytes > kMostForAgent) break;
    for (CapturedSpan& span : found->second.spans) {
      span.context.set_flags(span.context.flags() | kHeldFlag);
      send(std::move(span));
    }
    held_.erase(found);
  }
  drop_held();  // the agent is still to be told of what is wanted
}

void HeldTraces::drop_held() {
  held_.clear();
  in_order_.clear();
  bytes_ = 0;
}

void HeldTraces::clear() {
  drop_held();
  wanted_.clear();
  gone_.clear();
  news_.clear();
}

}  // namespace pcp::trace::client
