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

CaptureBits HeldTraces::wanted_bits(std::uint64_t hash, const CaptureSet& set) {
  const Bits* const found = wanted_.find(hash);
  return found != nullptr ? found->valid(set) : 0;
}

// Its limit was asked when the trace was first wanted, perhaps in another process. A whole trace
// may exceed it.
CaptureBits HeldTraces::admit(CaptureBits bits, const CaptureSet& set, std::uint64_t now_ns) const {
  CaptureBits admitted = 0;
  for_each_bit(bits, [&](std::size_t bit) {
    SpanLimit& limit = set.at(bit).limit;
    if (!limit.admits_the_rest(now_ns)) return;
    limit.count(now_ns);
    admitted |= CaptureBits{1} << bit;
  });
  return admitted;
}

void HeldTraces::take(const CapturedSpan& span, Fates fates, const CaptureSet* set,
                      std::uint64_t now_ns) {
  if (fates.held != 0) {
    const CaptureBits wanted =
        fates.held & wanted_bits(wire::hash_of_trace(span.context.trace_low), *set);
    const CaptureBits admitted = admit(wanted, *set, now_ns);
    fates.kept |= admitted;
    fates.over_limit |= wanted & ~admitted;
    fates.held &= ~wanted;
  }
  const auto epoch = static_cast<std::uint16_t>(span.epoch);
  count_(epoch, fates.over_limit, Outcome::OverLimit);
  if ((fates.kept | fates.held) == 0) return;
  try {
    taken_.add(span, fates.kept, fates.held, now_ns,
               [this](const TakenSpans::Record& record) { let_go(record); });
  } catch (const std::bad_alloc&) {
    count_(epoch, fates.kept | fates.held, Outcome::NoRoom);
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

// Null if there is no memory: then only what is held now is sent.
HeldTraces::Wanted* HeldTraces::add_wanted(std::uint64_t hash, CaptureBits bits,
                                           const CaptureSet& set, std::uint64_t now_ns) {
  Wanted* const known = wanted_.find_or_make(hash);
  const CaptureBits before = known != nullptr ? known->valid(set) : 0;
  if (known != nullptr) *known = {{before | bits, set.epoch()}, known->told & before};
  if (const CaptureBits fresh = bits & ~before; fresh != 0) {
    count_gone(hash, fresh, set);
    taken_.for_each_of(hash, [&](TakenSpans::Position position, TakenSpans::Record& record) {
      record.undecided = set.valid_bits(record.undecided, record.epoch);
      record.to_send = set.valid_bits(record.to_send, record.epoch);
      record.in_flight = set.valid_bits(record.in_flight, record.epoch);
      record.epoch = static_cast<std::uint16_t>(set.epoch());
      const CaptureBits decided = TakenSpans::still_here(record) & fresh;
      CaptureBits admitted = admit(decided, set, now_ns);
      count_(record.epoch, decided & ~admitted, Outcome::OverLimit);
      try {
        taken_.send(position, admitted);
      } catch (const std::bad_alloc&) {
        count_(record.epoch, admitted, Outcome::NoRoom);
      }
      record.undecided &= ~decided;
    });
  }
  return known;
}

void HeldTraces::count_gone(std::uint64_t hash, CaptureBits wanted, const CaptureSet& set) {
  Gone* const gone = gone_.find(hash);
  if (gone == nullptr) return;
  const CaptureBits bits = gone->valid(set) & wanted;
  if (bits == 0) return;
  for (std::uint32_t i = 0; i < gone->spans; ++i)
    count_(static_cast<std::uint16_t>(set.epoch()), bits, Outcome::WaitedTooLong);
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
  const auto is_old = [&](const TakenSpans::Record& record) {
    return (record.to_send | record.in_flight) == 0 && now_ns >= record.since_ns + held_for;
  };
  taken_.let_go(is_old, [this](const TakenSpans::Record& record) { let_go(record); });
}

// Its bits in flight need nothing: EVENTS have a copy, and count it if they are lost.
void HeldTraces::let_go(const TakenSpans::Record& record) {
  count_(record.epoch, record.to_send, Outcome::NoRoom);
  const CaptureBits undecided = TakenSpans::still_here(record);
  if (undecided == 0) return;
  if (Gone* const gone = gone_.find_or_make(wire::hash_of_trace(record.trace_low))) {
    gone->bits |= undecided;
    gone->epoch = record.epoch;
    ++gone->spans;
  }
}

// The agent is still to be told of what is wanted.
void HeldTraces::give_to_agent() {
  try {
    taken_.send_undecided(kMostForAgent);
  } catch (const std::bad_alloc&) {  // the first ones go
  }
}

void HeldTraces::clear() {
  taken_.forget_undecided();
  wanted_.clear();
  gone_.clear();
  news_.clear();
}

}  // namespace pcp::trace::client
