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
  const CapturedSpan& span = held.span;
  Branch branch;
  Ended ended{.parent = span.context.outgoing()};
  if (!wire::is_event(span.kind)) {
    if (auto inside = branches_.extract(span.context.own)) {
      branch = std::move(inside.mapped());
      held_ -= branch.spans.size();
    }
    if (const Places* const lost = lost_.find(span.context.own)) branch.lost |= *lost;
    ended = decide(span, branch.lost, set, now_ns);
  } else if (const Ended* const around = find_ended(ended.parent)) {
    ended = *around;
  }
  branch.since_ns = std::min(branch.since_ns, now_ns);
  branch.spans.push_back(std::move(held));
  for (Held& each : hold(std::move(branch), ended, set, now_ns, decisions))
    take(std::move(each), set, now_ns, decisions);
  if (held_ + branches_.size() > kMost) make_room(now_ns, decisions);
}

// Decides for the slower= places whose top this is. A part of a fast top that matches a filter is a
// top, too: it may have continued on another thread. The result includes the decisions of all ended
// transactions around it.
HeldSpans::Ended HeldSpans::decide(const CapturedSpan& top, Places lost, const CaptureSet& set,
                                   std::uint64_t now_ns) {
  const SpanId id = top.context.own;
  if (find(id) == nullptr) ended_[0].find_or_make(id).parent = top.context.parent;
  const Ended around = *find_ended(id);
  Ended ended;
  const Places tops = top.slow_tops | (around.fast & set.matching(*top.tag));
  for_each_place(tops & top.context.places(), [&](std::size_t place) {
    const Places bit = Places{1} << place;
    const CaptureSet::Asked& asked = set.at(place);
    if (!set.is_slow(place, top.duration_ns))
      ended.fast |= bit;
    else if ((lost & bit) != 0)
      ended.waited |= bit;
    else if (asked.limit.admits(asked.share, top.context.trace_low, now_ns) !=
             SpanLimit::Answer::Taken)
      ended.over_limit |= bit;
    else
      ended.kept |= bit;
  });
  ended.add_what_is_around(around);
  return ended_[ended.kept != 0 ? 1 : 0].find_or_make(id) = ended;
}

// The branch's spans for `fast` places, if one of them is slow and a top itself: taken before its
// fast parent, it must be decided again. Sorted with outer spans first.
std::vector<HeldSpans::Held> HeldSpans::find_slow(const Branch& branch, Places fast,
                                                  const CaptureSet& set) {
  // Nearly each level of a deep tree: a look at the whole branch there would cost quadratic time.
  if (fast == 0) return {};
  const auto is_slow = [&](const Held& each) {
    const Places tops = fast & places_of(each) & set.matching(*each.span.tag);
    bool is_any = false;
    for_each_place(tops, [&](auto place) { is_any |= set.is_slow(place, each.span.duration_ns); });
    return is_any;
  };
  std::vector<Held> anew;
  if (std::none_of(branch.spans.begin(), branch.spans.end(), is_slow)) return anew;
  for (const Held& each : branch.spans)
    if ((places_of(each) & fast) != 0) anew.push_back(for_places(each, places_of(each) & fast));
  std::sort(anew.begin(), anew.end(), [](const Held& one, const Held& other) {
    return std::pair(one.span.begin_ns, other.span.duration_ns) <
           std::pair(other.span.begin_ns, one.span.duration_ns);
  });
  return anew;
}

// Leaves the undecided spans in the branch.
void HeldSpans::apply(const Ended& ended, Branch& branch, const CaptureSet& set,
                      std::uint64_t now_ns, Decisions& decisions) {
  const Places decided = ended.decided();
  if (decided == 0) return;
  for (Held& each : branch.spans) {
    for_each_place(ended.kept & places_of(each),
                   [&](std::size_t place) { set.at(place).limit.count(now_ns); });
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

HeldSpans::Ended* HeldSpans::find(SpanId id) {
  Ended* const kept = ended_[1].find(id);
  return kept != nullptr ? kept : ended_[0].find(id);
}

// Gives a transaction with the decisions of all ended ones around it. Each on the way stores them,
// too: so no path is walked twice, however deep. (Only absurd ids form cycles.)
const HeldSpans::Ended* HeldSpans::find_ended(SpanId id) {
  std::vector<Ended*> outwards;
  for (Ended* each = find(id); each != nullptr && outwards.size() < 2 * kMostEnded;
       each = find(each->parent))
    outwards.push_back(each);
  if (outwards.empty()) return nullptr;
  for (std::size_t i = outwards.size() - 1; i > 0; --i)
    outwards[i - 1]->add_what_is_around(*outwards[i]);
  return outwards.front();
}

// Takes back what was decided about them as parts of fast tops, and paths that skip one that may be
// a top now.
void HeldSpans::forget(const std::vector<Held>& anew, Places fast) {
  for (const Held& each : anew) {
    Ended* const known = wire::is_event(each.span.kind) ? nullptr : find(each.span.context.own);
    if (known == nullptr) continue;
    known->parent = each.span.context.parent;
    known->fast &= ~fast;
  }
}

// Holds a branch under the innermost open transaction. Gives spans to take() again.
std::vector<HeldSpans::Held> HeldSpans::hold(Branch branch, const Ended& around,
                                             const CaptureSet& set, std::uint64_t now_ns,
                                             Decisions& decisions) {
  std::vector<Held> anew = find_slow(branch, around.fast, set);
  forget(anew, around.fast);
  apply(around, branch, set, now_ns, decisions);
  if (branch.lost != 0) lost_.find_or_make(around.parent) |= branch.lost;
  if (branch.spans.empty()) return anew;
  Branch& held = branches_[around.parent];
  held.since_ns = std::min(held.since_ns, branch.since_ns);
  held_ += branch.spans.size();
  // Moves the smaller part: otherwise a deep tree would move all of its spans at each level.
  if (held.spans.size() < branch.spans.size()) held.spans.swap(branch.spans);
  held.spans.insert(held.spans.end(), std::make_move_iterator(branch.spans.begin()),
                    std::make_move_iterator(branch.spans.end()));
  return anew;
}

// Notes the lost spans for the end of the open transaction.
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

// Gives up the oldest quarter by time, so that not each span searches for the oldest.
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
