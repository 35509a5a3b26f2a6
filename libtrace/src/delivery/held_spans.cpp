// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/held_spans.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kLookEveryNs = 1'000'000'000;

Places places_of(const HeldSpans::Held& held) { return held.span.context.places(); }

HeldSpans::Held for_places(const HeldSpans::Held& held, Places places) {
  HeldSpans::Held part = held;
  part.span.context.set_places(places);
  return part;
}

void decide_as(HeldSpans::Fate fate, const HeldSpans::Held& held, Places places,
               HeldSpans::Decisions& decisions) {
  places &= places_of(held);
  if (places != 0) decisions.push_back({for_places(held, places), fate});
}

}  // namespace

void HeldSpans::take(Held held, const CaptureSet& set, std::uint64_t now_ns, Decisions& decisions) {
  const CapturedSpan span = held.span;
  Branch branch;
  if (wire::is_event(span.kind)) {
    branch.since_ns = now_ns;
    branch.spans.push_back(std::move(held));
    hold(std::move(branch), span.context.outgoing(), decisions);
  } else {
    if (auto inside = branches_.extract(span.context.own)) {
      branch = std::move(inside.mapped());
      held_ -= branch.spans.size();
    }
    branch.since_ns = std::min(branch.since_ns, now_ns);
    branch.spans.push_back(std::move(held));
    if (const Places* const lost = lost_.find(span.context.own)) branch.lost |= *lost;
    const Ended ended = decide(span, branch, set, now_ns, decisions);
    ended_[ended.kept != 0 ? 1 : 0].find_or_make(span.context.own) = ended;
    hold(std::move(branch), ended.parent, decisions);
  }
  if (held_ + branches_.size() > kMost) make_room(now_ns, decisions);
}

// For the filters of which this is the top.
HeldSpans::Ended HeldSpans::decide(const CapturedSpan& top, Branch& branch, const CaptureSet& set,
                                   std::uint64_t now_ns, Decisions& decisions) {
  Ended ended{.parent = top.context.parent};
  for_each_place(top.slow_tops & top.context.places(), [&](std::size_t place) {
    const Places bit = Places{1} << place;
    const CaptureSet::Asked& asked = set.at(place);
    if (!set.is_slow(place, top.duration_ns))
      ended.fast |= bit;
    else if ((branch.lost & bit) != 0)
      ended.waited |= bit;
    else if (asked.limit.admits(asked.share, top.context.trace_low, now_ns) !=
             SpanLimit::Answer::Taken)
      ended.over_limit |= bit;
    else
      ended.kept |= bit;
    for (const Held& each : branch.spans)
      if ((ended.kept & places_of(each) & bit) != 0) asked.limit.count(now_ns);
  });
  apply(ended, branch, decisions);
  return ended;
}

// Leaves in the branch what is still to be decided.
void HeldSpans::apply(const Ended& ended, Branch& branch, Decisions& decisions) {
  const Places decided = ended.decided();
  if (decided == 0) return;
  for (Held& each : branch.spans) {
    decide_as(Fate::Kept, each, ended.kept, decisions);
    decide_as(Fate::OverLimit, each, ended.over_limit, decisions);
    decide_as(Fate::WaitedTooLong, each, ended.waited, decisions);
    each.span.context.set_places(places_of(each) & ~decided);
  }
  std::erase_if(branch.spans, [](const Held& each) { return places_of(each) == 0; });
  branch.lost &= ~decided;
}

void HeldSpans::Ended::add_what_is_around(const Ended& outer) {
  const Places undecided = ~decided();
  kept |= outer.kept & undecided;
  over_limit |= outer.over_limit & undecided;
  waited |= outer.waited & undecided;
  fast |= outer.fast & undecided;
  parent = outer.parent;
}

// With all that it is inside of. So nobody goes the same way twice, however deep it is. (Only
// absurd ids go round in circles.)
const HeldSpans::Ended* HeldSpans::find_ended(SpanId id) {
  const auto find = [this](SpanId each) {
    Ended* const kept = ended_[1].find(each);
    return kept != nullptr ? kept : ended_[0].find(each);
  };
  Ended* const ended = find(id);
  if (ended == nullptr) return nullptr;
  for (std::size_t depth = 0; depth < 2 * kMostEnded; ++depth) {
    const Ended* const outer = find(ended->parent);
    if (outer == nullptr) break;
    ended->add_what_is_around(*outer);
  }
  return ended;
}

// Under the innermost that has not ended.
void HeldSpans::hold(Branch branch, SpanId parent, Decisions& decisions) {
  if (const Ended* const ended = find_ended(parent)) {
    apply(*ended, branch, decisions);
    parent = ended->parent;
  }
  if (branch.lost != 0) lost_.find_or_make(parent) |= branch.lost;
  if (branch.spans.empty()) return;
  Branch& held = branches_[parent];
  held.since_ns = std::min(held.since_ns, branch.since_ns);
  held_ += branch.spans.size();
  held.spans.insert(held.spans.end(), std::make_move_iterator(branch.spans.begin()),
                    std::make_move_iterator(branch.spans.end()));
}

// That it was so is remembered for when the transaction ends.
template <typename IsOld>
void HeldSpans::give_up_branches(IsOld is_old, Decisions& decisions) {
  std::erase_if(branches_, [&](const auto& each) {
    const auto& [open, branch] = each;
    if (!is_old(branch)) return false;
    Places& lost = lost_.find_or_make(open);
    for (const Held& held : branch.spans) {
      lost |= places_of(held);
      decide_as(Fate::WaitedTooLong, held, places_of(held), decisions);
    }
    held_ -= branch.spans.size();
    return true;
  });
}

// The oldest quarter, by time, so that not every span has to look for the oldest.
void HeldSpans::make_room(std::uint64_t now_ns, Decisions& decisions) {
  std::uint64_t oldest = now_ns;
  for (const auto& [id, branch] : branches_) oldest = std::min(oldest, branch.since_ns);
  const std::uint64_t until = oldest + (now_ns - oldest) / 4;
  give_up_branches([&](const Branch& branch) { return branch.since_ns <= until; }, decisions);
}

void HeldSpans::look(std::uint64_t now_ns, Decisions& decisions) {
  if (branches_.empty() || now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kLookEveryNs;
  give_up_branches([&](const Branch& branch) { return now_ns - branch.since_ns > kPatienceNs; },
                   decisions);
}

void HeldSpans::give_up(Decisions& decisions) {
  give_up_branches([](const Branch&) { return true; }, decisions);
}

void HeldSpans::keep_only(Places places) {
  held_ = 0;
  for (auto& [open, branch] : branches_) {
    for (Held& held : branch.spans) held.span.context.set_places(places_of(held) & places);
    std::erase_if(branch.spans, [](const Held& held) { return places_of(held) == 0; });
    held_ += branch.spans.size();
  }
  std::erase_if(branches_, [](const auto& each) { return each.second.spans.empty(); });
}

}  // namespace pcp::trace::client
