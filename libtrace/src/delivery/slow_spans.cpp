// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/slow_spans.hpp"

#include <algorithm>
#include <utility>

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kLookEveryNs = 1'000'000'000;

// So long a trace has one fate.
constexpr std::uint64_t kSameFateNs = 10'000'000'000;

// Takes these places out of a span. A span without places is empty then.
void hand_out(CapturedSpan& span, Places places, SlowSpans::Outcome outcome,
              SlowSpans::Decisions& decisions) {
  const Places left = span.places() & ~places;
  places &= span.places();
  if (places == 0) return;
  CapturedSpan part = left == 0 ? std::move(span) : copy_of(span);
  part.context.set_places(places);
  span.context.set_places(left);
  decisions.push_back({std::move(part), outcome});
}

}  // namespace

// Drops places that nobody asks for any more. Gives those for which the rest waits.
Places SlowSpans::keep_what_waits(SpanPool::Index& list, const CaptureSet* set) {
  Places all = 0;
  list = share().filter(list, [&](CapturedSpan& span) {
    if (set == nullptr) return false;
    const auto epoch = static_cast<std::uint16_t>(span.epoch);
    span.context.set_places(set->slow() & set->still_asked(span.places(), epoch));
    span.epoch = set->epoch();
    all |= span.places();
    return span.places() != 0;
  });
  return all;
}

void SlowSpans::settle(SpanPool::Index list, const CaptureSet* set, std::uint64_t now_ns,
                       Decisions& decisions) {
  const SpanPool::Facts facts = pool_.facts(list);
  const std::uint64_t trace = pool_.first(list).context.trace_low;
  const std::uint64_t around_id = pool_.first(list).around();
  hand_out(pool_.first(list), facts.at_once, Outcome::Sent, decisions);
  const Places waits = keep_what_waits(list, set);
  const auto take_out = [&](Places slow) {
    const Fates fates = decide(slow & waits, facts.is_torn, trace, *set, now_ns);
    list = take_out_decided(list, fates, *set, now_ns, decisions);
    return fates.kept;
  };
  if (list != 0 && facts.slow != 0) {
    const Places kept = take_out(facts.slow);
    if (facts.self != 0) kept_.find_or_make(facts.self) |= kept;
  }
  for (TreeRef around = facts.around; list != 0 && around != 0;) {
    const SlowTrees::Outcome outcome = trees_.outcome(around);
    if (outcome.is_open) {
      if (trees_.wait(around, list, facts.is_torn, false, now_ns)) return;
    } else if (outcome.is_known) {
      take_out(outcome.slow);
      around = outcome.around;
    } else {
      const Places* const one = kept_.find(around);
      const Places* const other = around_id != 0 ? kept_.find(around_id) : nullptr;
      take_out((one != nullptr ? *one : 0) | (other != nullptr ? *other : 0));
      break;
    }
  }
  share().give_back(list);
}

SlowSpans::Fates SlowSpans::decide(Places slow, bool is_torn, std::uint64_t trace,
                                   const CaptureSet& set, std::uint64_t now_ns) {
  Fates fates;
  if (slow == 0) return fates;
  if (is_torn) return {.waited = slow};
  Fates& known = traces_.find_or_make(trace);
  if (now_ns - known.since_ns > kSameFateNs) known = {.since_ns = now_ns};
  for_each_place(slow, [&](std::size_t place) {
    const Places bit = Places{1} << place;
    const CaptureSet::Asked& asked = set.at(place);
    const bool is_taken =
        (known.kept & bit) != 0
            ? asked.limit.admits_the_rest(now_ns)
            : (known.over_limit & bit) == 0 &&
                  asked.limit.admits(asked.share, trace, now_ns) == SpanLimit::Answer::Taken;
    (is_taken ? fates.kept : fates.over_limit) |= bit;
  });
  known.kept = (known.kept | fates.kept) & ~fates.over_limit;
  known.over_limit |= fates.over_limit;
  return fates;
}

SpanPool::Index SlowSpans::take_out_decided(SpanPool::Index list, const Fates& fates,
                                            const CaptureSet& set, std::uint64_t now_ns,
                                            Decisions& decisions) {
  if ((fates.kept | fates.over_limit | fates.waited) == 0) return list;
  return share().filter(list, [&](CapturedSpan& span) {
    if (const Places kept = span.places() & fates.kept; kept != 0) {
      for_each_place(kept, [&](std::size_t place) { set.at(place).limit.count(now_ns); });
      if (!wire::is_event(span.kind)) kept_.find_or_make(span.context.own) |= kept;
    }
    hand_out(span, fates.kept, Outcome::Sent, decisions);
    hand_out(span, fates.over_limit, Outcome::OverLimit, decisions);
    hand_out(span, fates.waited, Outcome::WaitedTooLong, decisions);
    return span.places() != 0;
  });
}

// The rest of such a tree is given up, too, if it is slow: it is torn.
void SlowSpans::give_up_old(std::uint32_t entries, std::uint64_t until, const CaptureSet* set,
                            Decisions& decisions) {
  trees_.take_old(entries, until, [&](SpanPool::Index list) {
    const Places waits = keep_what_waits(list, set);
    if (list != 0) list = take_out_decided(list, {.waited = waits}, *set, until, decisions);
    share().give_back(list);
  });
}

// Without room, the oldest quarter by time goes.
void SlowSpans::look(std::uint32_t entries, const CaptureSet& set, std::uint64_t now_ns,
                     Decisions& decisions) {
  if (pool_.taken() > SpanPool::kMost / 4 * 3) {
    const std::uint64_t oldest = trees_.oldest_ns(entries, now_ns);
    give_up_old(entries, oldest + (now_ns - oldest) / 4, &set, decisions);
  }
  if (now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kLookEveryNs;
  if (now_ns > kPatienceNs) give_up_old(entries, now_ns - kPatienceNs, &set, decisions);
}

}  // namespace pcp::trace::client
