// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/capture_books.hpp"

#include <algorithm>

namespace pcp::trace::client {
namespace {

// An agent sends at most ten CONTROLs a second: these cover the last hundred seconds.
constexpr std::size_t kMostSets = 1024;

// one + times * other.
wire::CaptureCount sum_of(wire::CaptureCount one, const wire::CaptureCount& other,
                          std::int64_t times) {
  for (const auto number : {&wire::CaptureCount::captured, &wire::CaptureCount::missed_full,
                            &wire::CaptureCount::missed_limit, &wire::CaptureCount::missed_waiting,
                            &wire::CaptureCount::missed_away})
    one.*number += static_cast<std::uint64_t>(times) * (other.*number);
  return one;
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

bool CaptureBooks::has(std::uint64_t id) const {
  return std::any_of(accounts_.begin(), accounts_.end(),
                     [&](const Account& account) { return account.id == id; });
}

void CaptureBooks::open(std::uint64_t id) {
  if (!has(id)) accounts_.push_back({.id = id});
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
  captures_.forget_before();
}

void CaptureBooks::adopt_start(const wire::Capture& capture, std::uint64_t control) {
  if (Account* const account = find(kFromStart)) account->id = capture.id;
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
    if (outcome == Outcome::NoRoom || outcome == Outcome::OverLimit) {
      ++(outcome == Outcome::NoRoom ? account->missed_full : account->missed_limit);
      return;  // count_of() adds it to `captured`
    }
    ++account->captured;
    if (outcome == Outcome::WaitedTooLong) ++account->missed_waiting;
    if (outcome == Outcome::Away) ++account->missed_away;
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
    if (Account* const account = find(set->ids[bit])) account->missed_away += spans[bit];
}

void CaptureBooks::note_forgotten() {
  for (Account& account : accounts_) {
    account.forgotten = sum_of(account.forgotten, account.taken, 1);
    account.told = account.taken = {};
  }
}

void CaptureBooks::retire() {
  captures_.retire([this](const CaptureSet& set) {
    for_each_bit(set.bits(), [&](std::size_t bit) {
      const CaptureSet::Capture& asked = set.at(bit);
      if (Account* const account = find(id_of(asked))) {
        account->missed_full += asked.missed_full.load(std::memory_order_relaxed);
        account->missed_limit += asked.missed_limit.load(std::memory_order_relaxed);
      }
    });
  });
}

wire::CaptureCount CaptureBooks::count_of(const Account& account) const {
  wire::CaptureCount count{.capture = account.id,
                           .captured = account.captured,
                           .missed_full = account.missed_full,
                           .missed_limit = account.missed_limit,
                           .missed_waiting = account.missed_waiting,
                           .missed_away = account.missed_away};
  captures_.for_each([&](const CaptureSet& set) {
    for_each_bit(set.bits(), [&](std::size_t bit) {
      const CaptureSet::Capture& asked = set.at(bit);
      if (id_of(asked) != account.id) return;
      count.threshold = asked.limit.threshold(asked.share);  // the published set's is the last one
      count.missed_full += asked.missed_full.load(std::memory_order_relaxed);
      count.missed_limit += asked.missed_limit.load(std::memory_order_relaxed);
    });
  });
  count.captured += count.missed_full + count.missed_limit;
  return sum_of(count, account.forgotten, -1);
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
