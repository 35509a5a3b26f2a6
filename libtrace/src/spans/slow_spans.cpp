// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/slow_spans.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kLookEveryNs = 1'000'000'000;

// For this time a trace has one fate.
constexpr std::uint64_t kSameFateNs = 10'000'000'000;

}  // namespace

void SlowSpans::remember(std::uint64_t id, const Fates& fates) {
  if (Fates* const known = ended_.find_or_make(id)) known->add(&fates);
}

// False if there is no memory.
bool SlowSpans::let_wait(SpanPool::Index list, std::uint64_t parent, bool has_ended,
                         std::uint64_t now_ns) {
  try {
    Orphans& waiting = orphans_.try_emplace(parent, Orphans{parent, now_ns}).first->second;
    orphaned_ += pool_.size(list);
    waiting.has_ended = waiting.has_ended && has_ended;
    waiting.list = pool_.join(list, waiting.list);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

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

void SlowSpans::Fates::add(const Fates* more) {
  if (more == nullptr) return;
  kept |= more->kept;
  over_limit |= more->over_limit;
  waited |= more->waited;
  held |= more->held;
  fast |= more->fast;
}

void SlowSpans::settle(SpanPool::Index list, const CaptureSet* set, std::uint64_t now_ns) {
  const SpanPool::Facts facts = pool_.facts(list);
  const std::uint64_t trace = pool_.first(list).context.trace_low;
  const std::uint64_t parent = pool_.first(list).around();
  decide_part(decide_, pool_.first(list), facts.at_once, Outcome::Sent);
  const CaptureBits waits = keep_what_waits(list, set);
  const auto take_out_slow = [&](CaptureBits slow) {
    const Fates fates =
        facts.is_torn ? Fates{.waited = slow & waits} : decide(slow & waits, trace, *set, now_ns);
    take_out(list, fates, *set, now_ns);
    return fates;
  };
  if (list != 0 && facts.slow != 0) {
    const Fates fates = take_out_slow(facts.slow);
    if (facts.self != 0) remember(facts.self, fates);
  }
  for (TreeRef around = facts.around; list != 0 && around != 0;) {
    const SlowTrees::Outcome outcome = trees_.outcome(around);
    if (outcome.is_open) {
      if (trees_.wait(around, list, facts.is_torn, false, now_ns)) return;
    } else if (outcome.is_found) {
      take_out_slow(outcome.slow);
      around = outcome.around;
    } else {
      Fates fates;
      fates.add(ended_.find(around));
      if (parent != 0) fates.add(ended_.find(parent));
      take_out(list, fates, *set, now_ns);
      if (list == 0 || parent == 0) break;
      if (!let_wait(list, parent, around != kForgottenAround, now_ns))
        return give_up(list, 0, set, now_ns);
      if (orphaned_ > kMostOrphans) {
        std::uint64_t oldest = now_ns;
        for (const auto& [id, each] : orphans_) oldest = std::min(oldest, each.since_ns);
        give_up_orphans(oldest + (now_ns - oldest) / 4, false, set);
      }
      return;
    }
  }
  if (list == 0) return;
  // Also what crosses nothing itself: it may be a part of something that does, and has ended.
  const CaptureBits held = do_traces_cross() ? waits & set->relayed() : 0;
  take_out(list, {.held = held, .fast = waits & ~held}, *set, now_ns);
}

// A trace that is wanted stays so, and for some time one that is over the limit.
SlowSpans::Fates SlowSpans::decide(CaptureBits slow, std::uint64_t trace, const CaptureSet& set,
                                   std::uint64_t now_ns) {
  Fates fates;
  if (slow == 0) return fates;
  OverLimit alone;
  OverLimit* const noted = over_limit_.find_or_make(trace);
  OverLimit& known = noted != nullptr ? *noted : alone;
  if (now_ns - known.since_ns > kSameFateNs) known = {.since_ns = now_ns};
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
  trees_.for_each_open(entries.end_of_numbers(), [&](const SlowTrees::OpenTree& open) {
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

// Takes decided spans out of the list, and their orphans.
void SlowSpans::take_out(SpanPool::Index& list, const Fates& fates, const CaptureSet& set,
                         std::uint64_t now_ns) {
  if (fates.all() == 0) return;
  Orphans* due = nullptr;
  const auto hand_out_decided = [&](CapturedSpan& span) {
    const CaptureBits decided = span.capture_bits() & fates.all();
    for_each_bit(decided & fates.kept, [&](std::size_t bit) { set.at(bit).limit.count(now_ns); });
    if (decided != 0 && !wire::is_event(span.kind)) {
      remember(span.context.own, fates);
      const auto found = orphans_.find(span.context.own);
      if (found != orphans_.end() && !std::exchange(found->second.is_due, true))
        found->second.next_due = std::exchange(due, &found->second);
    }
    decide_part(decide_, span, fates.kept, Outcome::Sent);
    decide_part(decide_, span, fates.over_limit, Outcome::OverLimit);
    decide_part(decide_, span, fates.waited, Outcome::WaitedTooLong);
    decide_part(decide_, span, fates.held, Outcome::Held);
    span.context.set_capture_bits(span.capture_bits() & ~fates.fast);
    return span.capture_bits() != 0;
  };
  list = share().filter(list, hand_out_decided);
  while (due != nullptr) {  // this may add to them
    Orphans& waiting = *std::exchange(due, due->next_due);
    orphaned_ -= pool_.size(waiting.list);
    keep_what_waits(waiting.list, &set);
    waiting.list = share().filter(waiting.list, hand_out_decided);
    waiting.is_due = false;
    if (waiting.list == 0)
      orphans_.erase(waiting.parent);
    else
      orphaned_ += pool_.size(waiting.list);
  }
}

// Gives a list up, except for captures for which an ended transaction around it was slow.
void SlowSpans::give_up(SpanPool::Index list, TreeRef around, const CaptureSet* set,
                        std::uint64_t now_ns) {
  const CaptureBits waits = keep_what_waits(list, set);
  if (list == 0) return;
  const std::uint64_t trace = pool_.first(list).context.trace_low;
  for (SlowTrees::Outcome outcome; around != 0; around = outcome.around) {
    outcome = trees_.outcome(around);
    Fates fates = decide(outcome.slow & waits, trace, *set, now_ns);
    fates.add(ended_.find(around));
    take_out(list, fates, *set, now_ns);
    if (!outcome.is_found) break;
  }
  take_out(list, {.waited = waits}, *set, now_ns);
  share().give_back(list);
}

// These trees are torn: if one proves slow, its rest is given up, too.
void SlowSpans::give_up_old(std::uint32_t entries, std::uint64_t until, const CaptureSet* set) {
  const std::uint64_t now = now_ns();
  trees_.remove_old(entries, until,
                    [&](SpanPool::Index list, TreeRef around) { give_up(list, around, set, now); });
  if (orphaned_ == 0) return;
  const std::uint64_t oldest = trees_.oldest_ns(entries, UINT64_MAX);
  if (pool_.next_list() == 0) give_up_orphans(oldest - 1, true, set);
  give_up_orphans(until, false, set);
}

// `are_fast`: their parents are known to have been fast.
void SlowSpans::give_up_orphans(std::uint64_t until, bool are_fast, const CaptureSet* set) {
  SpanPool::Index old = 0;
  std::erase_if(orphans_, [&](const auto& each) {
    const bool is_old = each.second.since_ns <= until && (!are_fast || each.second.has_ended);
    if (is_old) old = pool_.join(each.second.list, old);
    return is_old;
  });
  if (old == 0) return;
  orphaned_ -= pool_.size(old);
  if (are_fast && set != nullptr) take_out(old, {.fast = set->slow()}, *set, now_ns());
  give_up(old, 0, set, now_ns());
}

// If the pool is nearly full, the oldest quarter by time goes.
void SlowSpans::expire(std::uint32_t entries, const CaptureSet& set, std::uint64_t now_ns) {
  if (pool_.taken() > SpanPool::kMost / 4 * 3) {
    const std::uint64_t oldest = trees_.oldest_ns(entries, now_ns);
    give_up_old(entries, oldest + (now_ns - oldest) / 4, &set);
  }
  if (now_ns < next_check_ns_) return;
  next_check_ns_ = now_ns + kLookEveryNs;
  if (now_ns > kPatienceNs) give_up_old(entries, now_ns - kPatienceNs, &set);
}

}  // namespace pcp::trace::client
