// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/flusher.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "tags/description.hpp"

namespace pcp::trace::client {

namespace {

// Output iterator for the queue: *outlet++ = record. Prefetches each record's entry; the record is
// added after its neighbours have left the queue, too.
struct Outlet {
  const Pending& pending;
  Pending::Fetched* next;

  Outlet& operator*() { return *this; }
  Outlet& operator++() { return *this; }
  Outlet& operator++(int) { return *this; }
  // NOLINTNEXTLINE(misc-unconventional-assign-operator): an output iterator's
  void operator=(Record&& record) noexcept { *next++ = pending.fetch(record); }
};

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// A program that paused for fewer flush intervals than this need not wake the flusher, which costs
// it a system call.
constexpr int kRoundsBeforeSleep = 10;

// Without a bell the flusher polls, more and more rarely.
constexpr nanoseconds kSlowestPoll = 500ms;

// Delay of the first flush after a pause; calls shortly after the first one go along. So the last
// calls before a kill are rarely lost.
constexpr nanoseconds kLeadingEdge = 1ms;

// How often the flusher checks whether it is the last thread, once main has left.
constexpr nanoseconds kEndLook = 100ms;

// Waits for threads that lost their processor while they wrote a cell.
constexpr nanoseconds kBusyPause = 100us;
constexpr int kBusyTries = 1000;

}  // namespace

bool Drain::drain(Recorder& recorder, std::uint64_t now_ns) {
  const bool any = drain_records(recorder, recorder.queued(), now_ns);
  Overflow& overflow = recorder.overflow();
  if (!overflow.is_written()) return any;
  const bool more = drain_records(recorder, overflow.queued_before(), now_ns);
  return drain_cells(overflow, now_ns) || any || more;
}

bool Drain::drain_descriptions() {
  bool any = false;
  for (const TagDescription* each = take_new_descriptions(); each != nullptr; each = each->next)
    any |= pending_.redefine(*each->tag);
  return any;
}

void Drain::make_room(std::size_t records) {
  pending_.make_room(records);
  if (totals_ != nullptr) totals_->make_room(records);
}

bool Drain::drain_records(Recorder& recorder, std::uint64_t until, std::uint64_t now_ns) {
  const bool any = recorder.dequeued() < until;
  Pending::Fetched some[64];
  while (recorder.dequeued() < until) {
    const std::size_t wanted =
        std::min<std::uint64_t>(until - recorder.dequeued(), std::size(some));
    make_room(wanted);
    const std::size_t got = recorder.dequeue(wanted, Outlet{pending_, some});
    const std::span<const Pending::Fetched> taken(some, got);
    pending_.add(taken, now_ns);
    if (totals_ != nullptr) totals_->add(taken, now_ns);
  }
  return any;
}

bool Drain::drain_cells(Overflow& overflow, std::uint64_t now_ns) {
  Overflow::Exchanged exchanged;
  do {
    const Overflow::Room room = overflow.needed_room();
    make_room(room.cells);
    exchanged = overflow.exchange(spare_, room);
  } while (exchanged == Overflow::Exchanged::NoRoom);
  if (exchanged == Overflow::Exchanged::Busy) return false;
  spare_.for_each([&](const OverflowCell& cell) { pending_.add(cell, now_ns); });
  if (totals_ != nullptr)
    spare_.for_each([&](const OverflowCell& cell) { totals_->add(cell, now_ns); });
  spare_.clear();
  return true;
}

Flusher::Flusher(const Shared& shared, Outbox& outbox, Output& output, nanoseconds flush_interval,
                 Platform platform, Mmv* mmv)
    : shared_(shared),
      outbox_(outbox),
      mmv_(mmv),
      drain_(outbox.pending, mmv != nullptr ? &mmv->totals() : nullptr),
      output_(output),
      flush_interval_(flush_interval),
      platform_(std::move(platform)),
      poll_interval_(flush_interval) {}

std::uint64_t Flusher::after(nanoseconds delay) const {
  return platform_.now_ns() + static_cast<std::uint64_t>(delay.count());
}

void Flusher::on_bell(bool is_urgent) {
  has_left_ = false;
  shared_.doorbell.stay_awake();
  idle_rounds_ = 0;
  if (next_flush_ns_ == kNever) next_flush_ns_ = after(std::min(kLeadingEdge, poll_interval_));
  if (is_urgent) {
    drain();
    outbox_.spans.sort(platform_.now_ns());
    step();
  }
  if (next_end_look_ns_ == kNever && platform_.has_main_left()) leave_if_last();
  take_news();
}

void Flusher::on_timer() {
  has_left_ = false;
  const std::uint64_t now = platform_.now_ns();
  if (next_flush_ns_ <= now) flush();
  if (next_end_look_ns_ <= now) leave_if_last();
  if (mmv_ != nullptr && mmv_->next_call_ns() <= now) mmv_->publish(outbox_.open, now);
  output_.on_timer();
  take_news();
}

void Flusher::on_output_ready() {
  output_.on_ready();
  take_news();
}

void Flusher::recover() {
  has_left_ = false;
  next_flush_ns_ = after(flush_interval_);
  if (platform_.has_main_left()) leave_if_last();
  output_.recover();
  take_news();
}

std::uint64_t Flusher::next_call_ns() const {
  return std::min({next_flush_ns_, next_end_look_ns_, output_.next_call_ns(),
                   mmv_ != nullptr ? mmv_->next_call_ns() : kNever});
}

void Flusher::flush() {
  next_flush_ns_ = kNever;
  bool had_work = drain_and_look();
  outbox_.spans.tick(platform_.now_ns());
  had_work |= outbox_.spans.is_watching();
  idle_rounds_ = had_work ? 0 : idle_rounds_ + 1;
  if (idle_rounds_ < kRoundsBeforeSleep) {
    poll_interval_ = flush_interval_;
    next_flush_ns_ = after(flush_interval_);
  } else {
    fall_asleep();
  }
  flushed_until_ = outbox_.pending.queued();
  step();
}

void Flusher::fall_asleep() {
  if (shared_.doorbell.prepare_to_sleep()) {
    if (!drain_and_look()) return;
    shared_.doorbell.stay_awake();
    next_flush_ns_ = after(flush_interval_);
    return;
  }
  next_flush_ns_ = after(poll_interval_);
  poll_interval_ = std::min(poll_interval_ * 2, kSlowestPoll);
}

// Leaves pending records to exit(), which the C library calls at the last thread's end. Stays while
// a thread waits, perhaps a main that is not quite gone.
void Flusher::leave_if_last() {
  next_end_look_ns_ = kNever;
  if (!shared_.deliveries.has_waiters() && platform_.is_last_thread()) {
    shared_.doorbell.prepare_to_leave();
    has_left_ = !drain_and_look();
    if (has_left_) return;
    shared_.doorbell.stay_awake();
    if (next_flush_ns_ == kNever) next_flush_ns_ = after(kLeadingEdge);
  }
  next_end_look_ns_ = after(kEndLook);
}

bool Flusher::drain() {
  const std::uint64_t now = platform_.now_ns();
  bool any = false;
  const auto drain_one = [&](Recorder& recorder) {
    any |= drain_.drain(recorder, now);
    return !recorder.overflow().was_busy();
  };
  has_drained_all_ = true;
  shared_.recorders.for_each([&](Recorder& each) { has_drained_all_ &= drain_one(each); });
  // Many threads may have lost their processors while they wrote a cell: wait for all at once. On a
  // busy machine that takes seconds, so it counts as progress for a waiting flush.
  for (int tries = 0; !has_drained_all_ && tries < kBusyTries; ++tries) {
    platform_.pause(kBusyPause);
    if (!request_) shared_.deliveries.made_progress();
    has_drained_all_ = true;
    shared_.recorders.for_each([&](Recorder& each) {
      if (each.overflow().was_busy()) has_drained_all_ &= drain_one(each);
    });
  }
  return drain_.drain_descriptions() || any;
}

// Called less often than drain(), for which many calls may ring.
bool Flusher::drain_and_look() {
  const bool any = drain();
  const bool has_changed = outbox_.open.scan(shared_.recorders);
  if (mmv_ != nullptr) mmv_->publish(outbox_.open, platform_.now_ns());
  return has_changed || any;
}

// Does all that can be done now. Every event ends here.
void Flusher::step() {
  take_flush_request();
  output_.send_pending(flushed_until_);
  settle_flush_request();
  const bool has_settled_spans = outbox_.spans.has_settled_all();
  shared_.recorders.spans().note_settled(has_settled_spans);
  const bool is_ending = shared_.deliveries.is_ending();
  if (request_ && shared_.deliveries.is_hurried() && !output_.hurry(request_->ticket))
    close_flush_request(false);
  // Without work it does not connect: an idle program leaves the network alone. An ending process
  // would leave in the middle of a new connection, so it connects for a request only.
  const bool has_work = !outbox_.pending.empty() || !outbox_.open.empty() ||
                        !output_.has_settled(kNever) || !has_settled_spans;
  if (request_ || (has_work && !is_ending)) output_.connect();
}

// Waiting threads get a flush that begins after their request; requests during a flush share the
// next one.
void Flusher::take_flush_request() {
  const std::uint64_t ticket = shared_.deliveries.requested();
  if (request_ || ticket == shared_.deliveries.settled()) return;
  const bool is_ending = shared_.deliveries.is_ending();  // read before the drain, which finds all
  drain_and_look();
  if (!has_drained_all_ && !is_ending) return;  // the next flush tries again
  // Each step below may take long.
  shared_.deliveries.made_progress();
  outbox_.spans.tick(platform_.now_ns());
  shared_.deliveries.made_progress();
  if (is_ending) outbox_.spans.give_undecided();
  if (is_ending && mmv_ != nullptr) mmv_->finish();
  shared_.deliveries.made_progress();
  flushed_until_ = outbox_.pending.queued();
  request_ = FlushRequest{
      ticket,    flushed_until_,  outbox_.counters.doubtful(), outbox_.spans.captured(),
      is_ending, has_drained_all_};
}

// The goodbye follows the last batch at once. A process that ends before a busy agent acknowledges
// that batch has then said that there is nothing more. Calls that other threads make meanwhile end
// with the process.
void Flusher::settle_flush_request() {
  if (!request_ || outbox_.pending.popped() < request_->until ||
      !outbox_.spans.has_settled(request_->spans))
    return;
  const bool certain = outbox_.counters.doubtful() == request_->doubtful;
  const bool is_last = request_->at_end && request_->ticket == shared_.deliveries.requested();
  if (certain && is_last && request_->is_whole) output_.say_goodbye();
  if (!output_.has_settled(request_->until)) return;
  // At the end, first report the transactions that vanish with the process.
  if (request_->at_end && !outbox_.open.empty() && !output_.has_told_open()) return;
  if (certain && is_last) outbox_.open.on_goodbye();
  close_flush_request(certain);
}

// Requires: request_ is set.
void Flusher::close_flush_request(bool delivered) {
  const std::uint64_t ticket = request_->ticket;
  request_.reset();
  shared_.deliveries.settle(ticket, delivered);
  if (shared_.deliveries.requested() != ticket) shared_.doorbell.ring();  // for the next request
}

// A step can bring more news: a connection attempt may fail at once.
void Flusher::take_news() {
  for (Output::News news = output_.take_news(); news.has_any(); news = output_.take_news()) {
    if (news.has_connected) {
      shared_.deliveries.made_progress();
      shared_.deliveries.attempt_ended(0);
    }
    if (news.failure) shared_.deliveries.attempt_ended(*news.failure);
    if (news.has_put_back) {
      flushed_until_ = outbox_.pending.queued();
      if (request_) request_->until = flushed_until_;  // it still covers these entries
    }
    // Settled calls or spans, and a connection, are progress. Other messages of the agent must not
    // delay the process's end.
    const std::uint64_t settled = outbox_.counters.settled() + outbox_.spans.acknowledged();
    if (std::exchange(settled_calls_, settled) != settled) shared_.deliveries.made_progress();
    if (news.has_changed) step();
  }
}

}  // namespace pcp::trace::client
