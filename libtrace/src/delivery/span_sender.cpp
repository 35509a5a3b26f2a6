// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/span_sender.hpp"

#include <time.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "delivery/diagnostics.hpp"
#include "delivery/sender.hpp"
#include "wire/capture_filter.hpp"
#include "wire/steady_clock.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kPatienceNs = 10'000'000'000;

// Of the wall clock, beyond which spans follow it: less is its being adjusted.
constexpr std::int64_t kStepNs = 1'000'000;

// Sets that spans in the queue may be of.
constexpr std::size_t kMostEpochs = 64;

// The id of the capture of PCP_TRACE_CAPTURE until an agent has given it another, and its place.
constexpr std::uint64_t kFromStart = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kPlaceFromStart = 0;

// Taken out of the queue so that others behind them are.
constexpr std::size_t kMostReady = 4'096;

std::int64_t wall_minus_monotonic() {
  timespec wall{};
  const std::uint64_t before = now_ns();
  ::clock_gettime(CLOCK_REALTIME, &wall);
  const std::uint64_t monotonic = before + (now_ns() - before) / 2;
  return std::int64_t{wall.tv_sec} * 1'000'000'000 + wall.tv_nsec -
         static_cast<std::int64_t>(monotonic);
}

}  // namespace

void capture_from_start(Captures& captures, const Options& options) {
  if (options.capture.empty()) return;
  const auto filter = wire::parse_capture_filter(options.capture);
  if (!filter || !wire::matches_process(*filter, own_pid(), options.service, options.process))
    return;
  auto set = std::make_unique<CaptureSet>(0);
  set->add({kFromStart, kPlaceFromStart, options.capture}, *filter, wire::kAnyRate, 0);
  captures.publish(std::move(set), {});
}

SpanSender::SpanSender(Recorders& recorders, const Options& options)
    : recorders_(recorders),
      queue_(recorders.spans()),
      captures_(recorders.captures()),
      service_(options.service),
      process_(options.process),
      from_start_(options.capture) {
  if (published() == nullptr || published()->at(kPlaceFromStart).id != kFromStart) return;
  note_epoch(*published());
  start_id_ = kFromStart;
  tallies_.emplace_back(kFromStart, Tally{});
  away_since_ns_ = now_ns();
}

bool SpanSender::welcomed(Agent agent, std::uint64_t last_sequence,
                          const std::optional<wire::Control>& asked) {
  is_connected_ = true;
  if (agent == Agent::Another) {
    if (start_id_ != kFromStart) forget_all();
  } else if (is_on_its_way_) {
    if (agent == Agent::SameThatForgot) count_as_away(pdu_);
    if (agent == Agent::SameThatForgot || last_sequence >= pdu_.sequence) is_on_its_way_ = false;
  }
  if (last_sequence > last_sequence_) return false;
  take_control(asked.value_or(wire::Control{}));
  return true;
}

void SpanSender::welcomed_without() {
  is_connected_ = false;
  forget_all();
}

void SpanSender::disconnected(std::uint64_t now_ns) {
  if (!std::exchange(is_connected_, false)) return;
  away_since_ns_ = now_ns;
}

// Another agent knows nothing of what was captured for the one before.
void SpanSender::forget_all() {
  is_on_its_way_ = false;
  start_id_ = 0;
  publish(nullptr);
  tallies_.clear();
  drop_what_waits();
}

// Who asks for the same as the environment gets it from the first call on; else it is forgotten.
void SpanSender::adopt_start(const wire::Control& control) {
  if (start_id_ != kFromStart) return;
  const auto same = std::find_if(
      control.captures.begin(), control.captures.end(), [this](const wire::Capture& capture) {
        return capture.place == kPlaceFromStart && capture.filter == from_start_;
      });
  if (same == control.captures.end()) {
    forget_all();
    epochs_.clear();
    return;
  }
  start_id_ = same->id;
  tallies_.front().first = same->id;
  for (Epoch& epoch : epochs_) epoch = {epoch.number, control.number, {same->id}};
}

std::uint64_t SpanSender::id_of(const CaptureSet::Asked& asked) const {
  return asked.id == kFromStart ? start_id_ : asked.id;
}

// What is published has this capture there.
bool SpanSender::is_same(std::size_t place, std::uint64_t id) const {
  return published() != nullptr && id_of(published()->at(place)) == id;
}

void SpanSender::take_control(const wire::Control& control) {
  set_wall_clock();
  adopt_start(control);
  auto set = std::make_unique<CaptureSet>(control.number);
  for (const wire::Capture& capture : control.captures) {
    const auto filter = wire::parse_capture_filter(capture.filter);
    if (!filter) {
      diagnose(PMTRACE_STATE_COMMS, [&] { return "not captured: " + filter.error().message; });
      continue;
    }
    if (!wire::matches_process(*filter, own_pid(), service_, process_)) continue;
    const bool is_there = is_same(capture.place, capture.id);
    set->add(capture, *filter, control.most_a_second,
             is_there ? published()->at(capture.place).since : 0);
    if (is_there) set->at(capture.place).limit.go_on_from(published()->at(capture.place).limit);
    if (tally_of(capture.id) == nullptr) tallies_.emplace_back(capture.id, Tally{});
  }
  if (set->places() == 0) set.reset();
  publish(std::move(set));
  forget_other_tallies();
}

void SpanSender::publish(std::unique_ptr<CaptureSet> set) {
  held_.keep_only(unchanged_places(set.get()));
  if (set != nullptr) note_epoch(*set);
  std::vector<const LooksAtCaptures*> threads;
  recorders_.for_each([&](Recorder& each) { threads.push_back(&each.looks_at_captures()); });
  captures_.publish(std::move(set), threads);
  retire();
}

void SpanSender::note_epoch(const CaptureSet& set) {
  Epoch epoch{set.epoch(), set.control(), {}};
  for_each_place(set.places(), [&](std::size_t place) { epoch.ids[place] = set.at(place).id; });
  if (epochs_.size() == kMostEpochs) epochs_.pop_front();
  epochs_.push_back(epoch);
}

// Those at which another set has the same captures as what is published.
Places SpanSender::unchanged_places(const CaptureSet* set) const {
  Places same = 0;
  for_each_place(set != nullptr ? set->places() : 0, [&](std::size_t place) {
    if (is_same(place, set->at(place).id)) same |= Places{1} << place;
  });
  return same;
}

// Of what nobody asks for any more nothing is told.
void SpanSender::forget_other_tallies() {
  std::erase_if(tallies_, [this](const auto& tally) {
    const CaptureSet* const set = published();
    bool is_asked = false;
    for_each_place(set != nullptr ? set->places() : 0,
                   [&](std::size_t place) { is_asked |= set->at(place).id == tally.first; });
    return !is_asked;
  });
}

void SpanSender::retire() {
  captures_.retire([this](const CaptureSet& set) {
    for_each_place(set.places(), [&](std::size_t place) {
      const CaptureSet::Asked& asked = set.at(place);
      if (Tally* const tally = tally_of(id_of(asked))) {
        tally->missed_full += asked.missed_full.load(std::memory_order_relaxed);
        tally->missed_limit += asked.missed_limit.load(std::memory_order_relaxed);
      }
    });
  });
}

SpanSender::Tally* SpanSender::tally_of(std::uint64_t id) {
  const auto found = std::find_if(tallies_.begin(), tallies_.end(),
                                  [&](const auto& tally) { return tally.first == id; });
  return found != tallies_.end() ? &found->second : nullptr;
}

bool SpanSender::take_ack(std::uint64_t sequence) {
  if (sequence > last_sequence_) return false;
  if (is_on_its_way_ && sequence == pdu_.sequence) is_on_its_way_ = false;
  return true;
}

void SpanSender::look(std::uint64_t now_ns) {
  retire();
  if (published() == nullptr) {
    drop_what_waits();
  } else if (!is_connected_ && now_ns - away_since_ns_ > kPatienceNs) {
    end();
    publish(nullptr);
    count_what_waits_as_away();  // should this very agent come back, it hears of it
  } else {
    set_wall_clock();
    sort(now_ns);
    HeldSpans::Decisions decisions;
    held_.look(now_ns, decisions);
    carry_out(std::move(decisions));
  }
}

void SpanSender::sort(std::uint64_t now_ns) {
  if (published() == nullptr || published()->slow() == 0) return;
  CapturedSpan span;
  while (ready_.size() < kMostReady && queue_.take(span)) route(span, now_ns);
}

void SpanSender::end() {
  sort(now_ns());
  HeldSpans::Decisions decisions;
  held_.give_up(decisions);
  carry_out(std::move(decisions));
}

void SpanSender::set_wall_clock() {
  const std::int64_t now = wall_minus_monotonic();
  const std::int64_t step = now - wall_minus_monotonic_;
  if (step > kStepNs || step < -kStepNs) wall_minus_monotonic_ = now;
}

bool SpanSender::has_settled(std::uint64_t captured) const {
  const bool tells_counts_only = is_on_its_way_ && pdu_.spans == 0;
  return taken_ >= captured + ready_.size() + (is_on_its_way_ ? pdu_.spans : 0) &&
         !tells_counts_only;
}

// What somebody wants in any case goes on at once, whatever becomes of it for others.
void SpanSender::route(const CapturedSpan& span, std::uint64_t now_ns) {
  ++taken_;
  Held held{span, std::shared_ptr<SpanNotes>(span.notes)};
  const auto places = static_cast<Places>(span.context.places);
  const CaptureSet* const set = published();
  const Places slow =
      set != nullptr
          ? set->slow() & set->still_asked(places, static_cast<std::uint16_t>(span.epoch))
          : 0;
  if ((places & ~slow) != 0) {
    ready_.push_back(held);
    ready_.back().span.context.places = places & ~slow;
  }
  if (slow == 0) return;
  held.span.context.places = slow;
  HeldSpans::Decisions decisions;
  held_.take(std::move(held), *set, now_ns, decisions);
  carry_out(std::move(decisions));
}

void SpanSender::carry_out(HeldSpans::Decisions decisions) {
  for (HeldSpans::Decided& each : decisions) {
    each.held.span.epoch = published()->epoch();
    if (each.fate == HeldSpans::Fate::Kept) {
      ready_.push_back(std::move(each.held));
      continue;
    }
    for_each_tally(each.held.span, [&](Tally& tally) {
      if (each.fate == HeldSpans::Fate::OverLimit) {
        ++tally.missed_limit;
      } else {
        ++tally.captured;
        ++tally.missed_waiting;
      }
    });
  }
}

bool SpanSender::take(Held& next) {
  CapturedSpan span;
  while (ready_.empty() && queue_.take(span)) route(span, now_ns());
  if (ready_.empty()) return false;
  next = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

// Of the captures that it is for, and that are still asked for.
template <typename Visit>
void SpanSender::for_each_tally(const CapturedSpan& span, Visit visit) {
  const Epoch* const epoch = epoch_of(span);
  if (epoch == nullptr) return;
  for_each_place(static_cast<Places>(span.context.places), [&](std::size_t place) {
    if (Tally* const tally = tally_of(epoch->ids[place])) visit(*tally);
  });
}

const SpanSender::Epoch* SpanSender::epoch_of(const CapturedSpan& span) const {
  const auto found = std::find_if(epochs_.rbegin(), epochs_.rend(),
                                  [&](const Epoch& epoch) { return epoch.number == span.epoch; });
  return found != epochs_.rend() ? &*found : nullptr;
}

void SpanSender::drop_what_waits() {
  held_.keep_only(0);
  Held next;
  while (take(next)) continue;
}

void SpanSender::count_what_waits_as_away() {
  Held next;
  while (take(next))
    for_each_tally(next.span, [](Tally& tally) {
      ++tally.captured;
      ++tally.missed_away;
    });
}

// Nobody can tell whether the agent took it.
void SpanSender::count_as_away(const Pdu& pdu) {
  for (std::size_t place = 0; place < pdu.spans_at.size(); ++place) {
    if (pdu.spans_at[place] == 0) continue;
    const auto epoch = std::find_if(epochs_.begin(), epochs_.end(),
                                    [&](const Epoch& each) { return each.control == pdu.control; });
    if (epoch == epochs_.end()) continue;
    if (Tally* const tally = tally_of(epoch->ids[place])) tally->missed_away += pdu.spans_at[place];
  }
}

const SpanSender::Pdu* SpanSender::next() {
  if (!is_connected_) return nullptr;
  if (!is_on_its_way_) fill();
  return is_on_its_way_ ? &pdu_ : nullptr;
}

// As many spans of one set as there is room for, and the counts that they are a part of.
void SpanSender::fill() {
  pdu_.control = 0;
  pdu_.counts.clear();
  pdu_.body.clear();
  pdu_.tags.clear();
  pdu_.spans = 0;
  pdu_.spans_at = {};
  constexpr std::size_t kMostBody = wire::kMaxEventsPduBytes - wire::kEventsOverheadBytes -
                                    wire::kMaxCaptures * wire::kMaxCaptureCountBytes;
  Held next;
  while (pdu_.body.size() + wire::kMaxSpanBytes <= kMostBody && take(next)) {
    const Epoch* const epoch = epoch_of(next.span);
    if (epoch == nullptr) continue;  // nobody asks any more
    if (pdu_.spans > 0 && epoch->control != pdu_.control) {
      ready_.push_front(std::move(next));
      break;
    }
    pdu_.control = epoch->control;
    count(next.span);
    append(next);
  }
  append_counts();
  if (pdu_.spans == 0 && pdu_.counts.empty()) return;
  if (pdu_.spans == 0 && published() != nullptr) pdu_.control = published()->control();
  pdu_.sequence = ++last_sequence_;
  is_on_its_way_ = true;
}

void SpanSender::count(const CapturedSpan& span) {
  for_each_place(static_cast<Places>(span.context.places),
                 [&](std::size_t place) { ++pdu_.spans_at[place]; });
  for_each_tally(span, [](Tally& tally) { ++tally.captured; });
}

void SpanSender::append(const Held& held) {
  const CapturedSpan& span = held.span;
  wire::Span out;
  out.tag_id = span.tag->id;
  out.kind = span.kind;
  out.begin_ns =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(span.begin_ns) + wall_minus_monotonic_);
  out.duration_ns = span.duration_ns;
  out.trace = {span.context.trace_high, span.context.trace_low};
  out.span = wire::is_event(span.kind) ? span.context.outgoing() : span.context.own;
  out.parent = wire::is_event(span.kind) ? 0 : span.context.parent;
  out.flags = static_cast<std::uint32_t>(span.context.flags & kKnownFlags) |
              ((span.context.flags & kCameInFlag) != 0 ? wire::kParentIsElsewhere : 0);
  out.tid = span.tid;
  out.places = static_cast<Places>(span.context.places);
  out.aborted = span.aborted;
  out.value = span.value;
  if (held.notes != nullptr) held.notes->describe(out);
  wire::append_span(pdu_.body, out);
  pdu_.tags.push_back(span.tag);
  ++pdu_.spans;
}

wire::CaptureCount SpanSender::count_of(std::uint64_t id, const Tally& tally) const {
  wire::CaptureCount count{.capture = id,
                           .captured = tally.captured,
                           .missed_full = tally.missed_full,
                           .missed_limit = tally.missed_limit,
                           .missed_waiting = tally.missed_waiting,
                           .missed_away = tally.missed_away};
  captures_.for_each([&](const CaptureSet& set) {
    for_each_place(set.places(), [&](std::size_t place) {
      const CaptureSet::Asked& asked = set.at(place);
      if (id_of(asked) != id) return;
      count.missed_full += asked.missed_full.load(std::memory_order_relaxed);
      count.missed_limit += asked.missed_limit.load(std::memory_order_relaxed);
    });
  });
  count.captured += count.missed_full + count.missed_limit;
  return count;
}

// Of the captures of which they differ from what was told before.
void SpanSender::append_counts() {
  for (auto& [id, tally] : tallies_) {
    const wire::CaptureCount count = count_of(id, tally);
    if (count == tally.told || count.captured == 0) continue;
    pdu_.counts.push_back(count);
    tally.told = count;
  }
}

}  // namespace pcp::trace::client
