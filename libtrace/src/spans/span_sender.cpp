// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/span_sender.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/clock_difference.hpp"
#include "platform/diagnostics.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kPatienceNs = 10'000'000'000;

// A smaller step of the wall clock is an adjustment, and ignored.
constexpr std::int64_t kStepNs = 1'000'000;

// Bit of PCP_TRACE_CAPTURE's capture. A new agent gives its first capture the same bit.
constexpr std::uint32_t kBitFromStart = 0;

// Most traces in one EVENTS that this process wants.
constexpr std::size_t kMostWanted = 128;

// Most spans to be sent while others may be taken.
constexpr std::size_t kMostReady = 4'096;

}  // namespace

void capture_from_start(Recorders& recorders, const ClientOptions& options) {
  if (options.capture.empty()) return;
  const auto filter = wire::parse_capture_filter(options.capture);
  if (!filter || !wire::matches_process(*filter, own_pid(), options.service, options.process))
    return;
  BlackBox& box = recorders.box();
  box.make(options.hold_bytes);
  auto set = std::make_unique<CaptureSet>(0, &box);
  set->add({CaptureBooks::kFromStart, kBitFromStart, options.capture}, *filter, wire::kAnyRate, 0);
  set->set_relayed();
  box.note_set(set->epoch(), set->control());
  recorders.captures().publish(std::move(set));
}

SpanSender::SpanSender(Recorders& recorders, const ClientOptions& options)
    : recorders_(recorders),
      box_(recorders.box()),
      pool_(recorders.spans()),
      captures_(recorders.captures()),
      service_(options.service),
      process_(options.process),
      from_start_(options.capture),
      hold_bytes_(options.hold_bytes),
      books_(captures_),
      taken_(box_, hold_bytes_),
      held_(taken_, [this](std::uint16_t epoch, CaptureBits bits,
                           CaptureBooks::Outcome outcome) { books_.count(epoch, bits, outcome); }),
      slow_(pool_, recorders.slow_trees(), held_) {
  set_wall_clock();
  if (!books_.is_same(kBitFromStart, CaptureBooks::kFromStart)) return;
  waits_for_first_agent_ = true;
  books_.note(*published());
  books_.open(published()->at(kBitFromStart));
  away_since_ns_ = now_ns();
}

bool SpanSender::on_welcome(AgentChange agent, std::uint64_t last_sequence,
                            const std::optional<wire::Control>& asked, bool relays) {
  if (!in_flight_.has_made(last_sequence)) return false;
  is_connected_ = true;
  relays_ = relays;
  if (agent == AgentChange::Another) {
    if (!waits_for_first_agent_) forget_all();
  } else if (agent == AgentChange::SameThatForgot) {
    give_up_in_flight();  // the agent may have taken it
    in_flight_.begin_with_new_agent();
    books_.note_forgotten();
  } else {
    on_ack(last_sequence);
  }
  on_control(asked.value_or(wire::Control{}));
  return true;
}

void SpanSender::on_welcome_without() {
  is_connected_ = false;
  forget_all();
}

void SpanSender::on_disconnected(std::uint64_t now_ns) {
  if (!std::exchange(is_connected_, false)) return;
  away_since_ns_ = now_ns;
}

// Another agent knows nothing of the former agent's captures.
void SpanSender::forget_all() {
  in_flight_.drop_all([this](const SpanBatch& lost) { taken_.settle(lost.places); });
  in_flight_.begin_with_new_agent();
  waits_for_first_agent_ = false;
  box_.forget_sets();
  publish(nullptr);
  books_.forget_all();
  drop_what_waits();
}

// If the agent asks for the filter of PCP_TRACE_CAPTURE, it gets the spans from the first call on.
// Otherwise they are dropped.
void SpanSender::adopt_start(const wire::Control& control) {
  if (!std::exchange(waits_for_first_agent_, false)) return;
  const auto same = std::find_if(
      control.captures.begin(), control.captures.end(), [this](const wire::Capture& capture) {
        const auto filter = wire::filter_of(capture);
        return capture.bit == kBitFromStart && filter && wire::text_of(*filter) == from_start_;
      });
  if (same != control.captures.end()) {
    books_.adopt_start(*same, control.number);
    if (published() != nullptr) box_.note_set(published()->epoch(), control.number);
  } else {
    forget_all();
    books_.forget_start();
  }
}

void SpanSender::on_control(const wire::Control& control) {
  set_wall_clock();
  adopt_start(control);
  auto set = std::make_unique<CaptureSet>(control.number, &box_);
  for (const wire::Capture& capture : control.captures) {
    auto filter = wire::filter_of(capture);
    if (!filter) {
      diagnose(PMTRACE_STATE_COMMS, [&] { return "not captured: " + filter.error().message; });
      continue;
    }
    if (!wire::matches_process(*filter, own_pid(), service_, process_)) {
      // Another process may want a trace of this one's. No transaction here is a reason.
      if (!relays_ || !filter->has_reason()) continue;
      filter->tags = {Glob::exactly("")};
    }
    box_.make(hold_bytes_);
    const bool is_there = books_.is_same(capture.bit, capture.id);
    set->add(capture, *filter, control.most_a_second,
             is_there ? published()->at(capture.bit).since : 0);
    if (is_there) set->go_on_from(*published(), capture.bit);
    set->count_in(capture.bit, books_.open(set->at(capture.bit)));
  }
  if (relays_) set->set_relayed();
  if (set->bits() == 0) set.reset();
  publish(std::move(set));
  books_.keep_only(published());  // tells nothing about removed captures
}

void SpanSender::on_wanted(const std::vector<wire::WantedTrace>& wanted) {
  if (published() == nullptr) return;
  const std::uint64_t now = now_ns();
  for (const wire::WantedTrace& each : wanted) held_.want(each, *published(), now);
}

void SpanSender::publish(std::unique_ptr<CaptureSet> set) {
  if (set != nullptr) {
    // The box has all that a reader must know of a set before threads use it.
    box_.note_set(set->epoch(), set->control());
    box_.note_clock(wall_minus_monotonic_);
    books_.note(*set);
  }
  captures_.publish(std::move(set));
  retire();
}

void SpanSender::retire() {
  captures_.note_readers([this](auto note) {
    recorders_.for_each([&](const Recorder& each) { note(each.capture_reads()); });
  });
  captures_.retire();
}

bool SpanSender::on_ack(std::uint64_t sequence) {
  return in_flight_.on_ack(sequence, [this](const SpanBatch& batch) {
    ++acknowledged_;
    taken_.settle(batch.places);
    books_.note_taken();
  });
}

void SpanSender::give_up_in_flight() {
  in_flight_.drop_all([this](const SpanBatch& lost) {
    books_.note_lost(lost.control, lost.spans_at);
    taken_.settle(lost.places);
  });
}

void SpanSender::tick(std::uint64_t now_ns) {
  retire();
  if (published() == nullptr) {
    count_what_waits_as_away();  // counts for open accounts only
  } else if (!is_connected_ && now_ns - away_since_ns_ > kPatienceNs) {
    give_undecided();
    publish(nullptr);
    count_what_waits_as_away();  // reported if this agent comes back
  } else {
    set_wall_clock();
    sort(now_ns);
    slow_.expire(recorders_.open_entries().end_of_numbers(), *published(), now_ns);
    held_.expire(*published(), now_ns);
  }
  is_watching_ = published() != nullptr && published()->slow() != 0 &&
                 slow_.look_at_open(recorders_.open_entries(), *published(), now_ns);
}

void SpanSender::sort(std::uint64_t now_ns) { sort(now_ns, kMostReady); }

void SpanSender::sort(std::uint64_t now_ns, std::size_t most_ready) {
  if (published() == nullptr || published()->slow() == 0) return;
  // Ignores later spans: threads may be faster than this loop, and calls must be sent, too.
  const std::uint64_t until = captured();
  while (handed_over_ < until && taken_.ready() < most_ready) {
    const SpanPool::Index list = pool_.next_list();
    if (list == 0) return;
    settle(list, now_ns);
  }
}

void SpanSender::give_undecided() {
  sort(now_ns(), SIZE_MAX);
  slow_.hold_all(recorders_.open_entries().end_of_numbers(), published());
  if (published() != nullptr) held_.give_to_agent();  // now, or when it is connected again
}

void SpanSender::set_wall_clock() {
  const std::int64_t now = wall_minus_steady().count();
  const std::int64_t step = now - wall_minus_monotonic_;
  if (step <= kStepNs && step >= -kStepNs) return;
  wall_minus_monotonic_ = now;
  taken_.set_clock(now);
  box_.note_clock(now);
}

bool SpanSender::has_settled(std::uint64_t captured) const {
  const SpanBatch* const sent = in_flight();
  const bool tells_counts_only = sent != nullptr && sent->places.empty();
  return handed_over_ >= captured + taken_.ready() + (sent != nullptr ? sent->places.size() : 0) &&
         !tells_counts_only;
}

// Requires: it is the next list.
void SpanSender::settle(SpanPool::Index list, std::uint64_t now_ns) {
  pool_.remove_list();
  handed_over_ += pool_.size(list);
  slow_.settle(list, published(), now_ns);
}

// The next span to be sent, of the first `until` ever captured.
bool SpanSender::find_ready(std::uint64_t until, TakenSpans::Ready& next) {
  while (!taken_.next(next)) {
    const SpanPool::Index list = handed_over_ < until ? pool_.next_list() : 0;
    if (list == 0) return false;
    settle(list, now_ns());
  }
  return true;
}

// Drops spans that wait for slower=, but no list that is still to be taken.
void SpanSender::drop_undecided() {
  held_.clear();
  if (recorders_.spans_in_use() > 0)
    slow_.hold_all(recorders_.open_entries().end_of_numbers(), nullptr);
}

void SpanSender::drop_what_waits() {
  drop_undecided();
  for (TakenSpans::Ready next; find_ready(UINT64_MAX, next);) taken_.remove_next(nullptr);
  taken_.settle({});
}

void SpanSender::count_what_waits_as_away() {
  drop_undecided();  // nobody asks for those any more
  for (TakenSpans::Ready next; find_ready(UINT64_MAX, next); taken_.remove_next(nullptr))
    books_.count(next.record->epoch, next.bits, CaptureBooks::Outcome::Away);
  taken_.settle({});
}

SpanBatch* SpanSender::next() {
  if (!is_connected_) return nullptr;
  if (in_flight_.empty()) {
    SpanBatch batch;
    fill(batch);
    if (batch.places.empty() && batch.counts.empty() && batch.wanted.empty()) return nullptr;
    in_flight_.add(std::move(batch));
  }
  return &in_flight_.front();
}

// Packs as many spans of one set as fit, and the changed counts. Without memory there are fewer, or
// it throws: a span is packed and counted, or it stays to be sent. A span is counted when it is
// packed.
void SpanSender::fill(SpanBatch& batch) {
  constexpr std::size_t kMostBody = wire::kMaxEventsPduBytes - wire::kEventsOverheadBytes -
                                    wire::kMaxCaptures * wire::kMaxCaptureCountBytes -
                                    kMostWanted * wire::kMaxWantedTraceBytes;
  batch.counts.reserve(books_.size());
  batch.wanted.reserve(kMostWanted);
  const std::uint64_t sequence = in_flight_.next_sequence();
  const std::uint64_t until = captured();  // see sort()
  try {
    while (batch.body.size() + wire::kMaxSpanBytes <= kMostBody) {
      TakenSpans::Ready next;
      if (!find_ready(until, next)) break;
      const CaptureBooks::Set* const set = books_.set_of(next.record->epoch);
      if (set == nullptr) {  // the captures were removed
        taken_.remove_next(nullptr);
        continue;
      }
      if (!batch.places.empty() && set->control != batch.control) break;
      append(next, batch);
      batch.control = set->control;
      if (!next.is_held) books_.count(next.record->epoch, next.bits, CaptureBooks::Outcome::Sent);
      batch.places.push_back(taken_.remove_next(&sequence));
    }
  } catch (const std::bad_alloc&) {
    if (batch.places.empty()) throw;
  }
  books_.tell(batch.counts);
  if (published() == nullptr) return;
  if (batch.places.empty()) batch.control = published()->control();
  if (batch.control == published()->control())
    held_.take_news(*published(), kMostWanted, batch.wanted);
}

// Throws if there is no memory, with nothing changed; else there is room for its position.
void SpanSender::append(const TakenSpans::Ready& ready, SpanBatch& batch) {
  if (batch.places.size() == batch.places.capacity())
    batch.places.reserve(2 * batch.places.size() + 64);
  batch.tags.push_back(taken_.tag_of(*ready.record));
  taken_.append(ready, batch.body);
  if (!ready.is_held) for_each_bit(ready.bits, [&](std::size_t bit) { ++batch.spans_at[bit]; });
}

}  // namespace pcp::trace::client
