// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/capture_books.hpp"

#include <algorithm>

namespace pcp::trace::client {
namespace {

// An agent sends at most ten CONTROLs a second: these cover the last hundred seconds.
constexpr std::size_t kMostSets = 1024;

// The counts as told to the agent, and as kept.
struct Cause {
  std::uint64_t wire::CaptureCount::*told;
  wire::box::Word<std::uint64_t> wire::box::Missed::*kept;
};
constexpr Cause kCauses[] = {{&wire::CaptureCount::missed_full, &wire::box::Missed::full},
                             {&wire::CaptureCount::missed_limit, &wire::box::Missed::limit},
                             {&wire::CaptureCount::missed_waiting, &wire::box::Missed::waiting},
                             {&wire::CaptureCount::missed_away, &wire::box::Missed::away}};

void add(wire::box::Word<std::uint64_t>& count, std::uint64_t more) {
  count.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace

void CaptureBooks::note(const CaptureSet& set) {
  Set noted{set.epoch(), set.epoch(), set.control(), {}};
  for_each_bit(set.bits(), [&](std::size_t bit) { noted.ids[bit] = set.at(bit).id; });
  if (!sets_.empty() && sets_.back().control == noted.control && sets_.back().ids == noted.ids) {
    sets_.back().last = noted.last;
    return;
  }
  if (sets_.size() == kMostSets) sets_.pop_front();
  sets_.push_back(noted);
}

const CaptureBooks::Set* CaptureBooks::set_of(std::uint16_t epoch) const {
  const auto found = std::find_if(sets_.rbegin(), sets_.rend(), [&](const Set& set) {
    return static_cast<std::uint16_t>(set.last - epoch) <= set.last - set.first;
  });
  return found != sets_.rend() ? &*found : nullptr;
}

CaptureBooks::Account* CaptureBooks::find(std::uint64_t id) {
  const auto found = std::find_if(accounts_.begin(), accounts_.end(),
                                  [&](const Account& account) { return account.id == id; });
  return found != accounts_.end() ? &*found : nullptr;
}

std::shared_ptr<wire::box::Missed> CaptureBooks::open(const CaptureSet::Capture& asked) {
  if (find(asked.id) == nullptr) accounts_.push_back({.id = asked.id, .missed = asked.missed});
  return find(asked.id)->missed;
}

void CaptureBooks::keep_only(const CaptureSet* set) {
  std::erase_if(accounts_, [&](const Account& account) {
    bool is_asked = false;
    for_each_bit(set != nullptr ? set->bits() : 0,
                 [&](std::size_t bit) { is_asked |= set->at(bit).id == account.id; });
    return !is_asked;
  });
}

void CaptureBooks::forget_all() {
  accounts_.clear();
  sets_.clear();
}

void CaptureBooks::adopt_start(const wire::Capture& capture, std::uint64_t control) {
  if (Account* const account = find(kFromStart)) {
    account->id = capture.id;
    account->missed->capture.store(capture.id, std::memory_order_release);
  }
  for (Set& set : sets_)
    if (std::exchange(set.ids[capture.bit], capture.id) == kFromStart) set.control = control;
  start_id_ = capture.id;
}

void CaptureBooks::forget_start() {
  std::erase_if(accounts_, [](const Account& account) { return account.id == kFromStart; });
  std::erase_if(sets_, [](const Set& set) {
    return std::find(set.ids.begin(), set.ids.end(), kFromStart) != set.ids.end();
  });
}

std::uint64_t CaptureBooks::id_of(const CaptureSet::Capture& asked) const {
  return asked.id == kFromStart ? start_id_ : asked.id;
}

bool CaptureBooks::is_same(std::size_t bit, std::uint64_t id) const {
  const CaptureSet* const set = captures_.published();
  return set != nullptr && id_of(set->at(bit)) == id;
}

void CaptureBooks::count(std::uint16_t epoch, CaptureBits bits, Outcome outcome) {
  const Set* const set = bits != 0 ? set_of(epoch) : nullptr;
  if (set == nullptr) return;
  for_each_bit(bits, [&](std::size_t bit) {
    Account* const account = find(set->ids[bit]);
    if (account == nullptr) return;
    switch (outcome) {
      case Outcome::Sent:
        ++account->sent;
        return;
      case Outcome::NoRoom:
        return add(account->missed->full, 1);
      case Outcome::OverLimit:
        return add(account->missed->limit, 1);
      case Outcome::WaitedTooLong:
        return add(account->missed->waiting, 1);
      case Outcome::Away:
        return add(account->missed->away, 1);
    }
  });
}

void CaptureBooks::note_taken() {
  for (Account& account : accounts_) account.taken = account.told;
}

void CaptureBooks::note_lost(std::uint64_t control, const SpanCounts& spans) {
  for (Account& account : accounts_) account.told = account.taken;
  const auto set = std::find_if(sets_.begin(), sets_.end(),
                                [&](const Set& each) { return each.control == control; });
  if (set == sets_.end()) return;
  for (std::size_t bit = 0; bit < spans.size(); ++bit)
    if (Account* const account = find(set->ids[bit])) {
      account->sent -= spans[bit];
      add(account->missed->away, spans[bit]);
    }
}

void CaptureBooks::note_forgotten() {
  for (Account& account : accounts_) {
    account.sent -= account.taken.captured;
    for (const Cause& cause : kCauses) {
      account.sent += account.taken.*cause.told;
      add((*account.missed).*cause.kept, -(account.taken.*cause.told));
    }
    account.told = account.taken = {};
  }
}

wire::CaptureCount CaptureBooks::count_of(const Account& account) const {
  wire::CaptureCount count{.capture = account.id, .captured = account.sent};
  for (const Cause& cause : kCauses)
    count.captured += count.*cause.told =
                          ((*account.missed).*cause.kept).load(std::memory_order_relaxed);
  if (const CaptureSet* const set = captures_.published())
    for_each_bit(set->bits(), [&](std::size_t bit) {
      const CaptureSet::Capture& asked = set->at(bit);
      if (id_of(asked) == account.id) count.threshold = asked.limit.threshold(asked.share);
    });
  return count;
}

void CaptureBooks::tell(std::vector<wire::CaptureCount>& counts) {
  for (Account& account : accounts_) {
    const wire::CaptureCount count = count_of(account);
    if (count == account.told || count.captured == 0) continue;
    counts.push_back(count);
    account.told = count;
  }
}

}  // namespace pcp::trace::client
