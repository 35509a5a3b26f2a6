// SPDX-License-Identifier: LGPL-2.1-or-later
// What a recorder does of transactions that belong to traces, and of what is captured.
#include <utility>

#include "record/recorder.hpp"
#include "record/slow_tops.hpp"
#include "record/span_notes.hpp"

namespace pcp::trace::client {
namespace {

std::uint64_t ns_of(Moment by_clock) { return by_clock >> 1; }

// What is inside of a transaction of which only the slow ones are wanted.
void note_inside(const CaptureSet& set, Places inherited, OpenTable::Place around) {
  if ((inherited & set.slow()) != 0 && OpenTable::is_entry(around))
    note_inside_slow_top(OpenTable::entry_at(around)->number);
}

// Of these filters with slower= those for which it took long enough.
Places slow_ones(const CaptureSet& set, Places places, std::uint64_t duration_ns) {
  Places slow = 0;
  for_each_place(places, [&](std::size_t place) {
    if (set.is_slow(place, duration_ns)) slow |= Places{1} << place;
  });
  return slow;
}

// A fast top with nothing inside is known to be of no use here and now.
void leave_fast_out(const CaptureSet& set, CapturedSpan& span) {
  const Places slow = slow_ones(set, span.slow_tops, span.duration_ns);
  const Places fast = span.slow_tops & ~slow;
  span.slow_tops = slow;
  span.context.places = static_cast<Places>(span.context.places) & ~fast;
}

}  // namespace

// Which filters take it: those that have what it is inside of, and those whose top it is. What is a
// top but for its share or limit has a trace all the same, so that what is inside of it is decided
// alike.
Recorder::Chosen Recorder::choose(const Captures::Look& look, const Tag* tag,
                                  const ThreadTrace::Inside& inside, TraceContext& context) {
  const Places inherited =
      look->still_asked(static_cast<Places>(context.places), OpenTable::epoch_of(inside.around));
  const Places tops = look->matching(*tag) & ~inherited;
  if ((inherited | tops) == 0) return {};
  if (!context.is_trace()) context = trace_.begin_trace();
  if (!context.is_trace()) {
    look->miss_for_want_of_room(inherited | tops);
    return {};
  }
  Places admitted = look->admit(tops, context.trace_low, coarse_now_ns());
  Places left_out = 0;
  if (queue_->spans().is_half_full()) {  // the other half is for what is inside of others
    left_out = admitted & look->slow();
    look->miss_for_want_of_room(admitted & ~left_out);
    admitted = 0;
  }
  const Chosen chosen{inherited | admitted, {admitted & look->slow(), left_out}};
  if (chosen.places != 0 && context.own == 0) context.own = trace_.make_id();
  if (chosen.places != 0 && context.own == 0) {  // there was no memory for an id
    look->miss_for_want_of_room(chosen.places);
    return {};
  }
  note_inside(*look, inherited, inside.around);
  return chosen;
}

Recorder::Traced Recorder::begin_inside(const Tag* tag, const ThreadTrace::Inside& inside,
                                        bool is_chosen) {
  TraceContext context = inside.context;
  const Captures::Look look(queue_->captures(), looks_at_captures_);
  const bool is_on = !has_state(PMTRACE_STATE_NOAGENT);
  const Chosen chosen =
      is_on && has_state(kCapturing) && look ? choose(look, tag, inside, context) : Chosen{};
  Places places = chosen.places;
  if (!context.is_trace() && trace_.always_begins_traces()) context = trace_.begin_trace();

  // What is captured is timed by the clock that all processes of this host share.
  const bool is_timed = (places | chosen.top.left_out) != 0;
  const auto now = [&] { return is_timed ? moment_by_clock() : present_moment(); };
  Begun begun{now(), OpenTable::kNowhere};
  begun.place = open_.enter(tag, begun.moment);
  const bool has_entry = OpenTable::is_entry(begun.place);
  if (!has_entry) look->miss_for_want_of_room(std::exchange(places, 0));
  if (is_on && must_ring()) {  // as begin_after_ring()
    doorbell_->ring_if_asleep();
    begun.moment = now();
    OpenTable::begin_later(begun.place, begun.moment);
  }
  context.places = places;
  if (is_timed && has_entry) {
    look->count(places, ns_of(begun.moment));
    if (chosen.top.is_any())
      note_slow_top(OpenTable::entry_at(begun.place)->number, begun.moment, chosen.top);
    begun.place |= OpenTable::captured_in(look->epoch());
  }
  if (context.is_trace()) begun.place |= OpenTable::kHasTrace;
  if (is_chosen || context.own != 0)
    begun.place = trace_.attach_begun({tag, begun.place, begun.moment}, context);
  return {begun, context};
}

double Recorder::end_traced(const ThreadTrace::Open& open, const TraceContext& context,
                            bool aborted) {
  const bool is_captured = (open.place & OpenTable::kIsCaptured) != 0;
  const Moment now = is_captured ? moment_by_clock() : present_moment();
  if (!is_captured) {
    open_.leave(trace_.end(open), open.tag, open.begun);
    return seconds_since(open.begun, now);
  }
  // Notes go with the entry: they are taken before another transaction can have it.
  const std::uint32_t entry = OpenTable::entry_at(open.place)->number;
  CapturedSpan span{.tag = open.tag, .notes = take_notes(entry, open.begun), .context = context};
  const bool has_sent = is_sent(entry, open.begun);
  const SlowTop top = slow_top(entry, open.begun);
  if (open_.leave(trace_.end(open), open.tag, open.begun)) {
    span.begin_ns = ns_of(open.begun);
    span.duration_ns = ns_of(now) - span.begin_ns;
    span.kind = (context.flags & kCameInFlag) != 0 ? wire::SpanKind::Server
                : has_sent                         ? wire::SpanKind::Client
                                                   : wire::SpanKind::Internal;
    span.aborted = aborted;
    const Captures::Look look(queue_->captures(), looks_at_captures_);
    if (look) {
      const auto still = [&](std::uint64_t places) {
        return look->still_asked(static_cast<Places>(places), OpenTable::epoch_of(open.place));
      };
      span.context.places = still(context.places);
      span.slow_tops = top.places & still(context.places);
      look->miss_for_want_of_room(slow_ones(*look, still(top.left_out), span.duration_ns));
      if (!top.has_inside) leave_fast_out(*look, span);
      if (put_span(look, span)) span.notes = nullptr;
    }
  }
  delete span.notes;
  return seconds_since(open.begun, now);
}

void Recorder::capture_event(const Tag* tag, wire::SpanKind kind, double value) {
  const Captures::Look look(queue_->captures(), looks_at_captures_);
  if (!look) return;
  const Places wanting = look->wanting(kind);
  if (wanting == 0) return;
  const ThreadTrace::Inside inside = trace_.innermost();
  const Places around = look->still_asked(static_cast<Places>(inside.context.places),
                                          OpenTable::epoch_of(inside.around));
  CapturedSpan event{.tag = tag, .context = inside.context};
  event.begin_ns = now_ns();
  event.value = value;
  event.kind = kind;
  const Places by_itself = look->admit(
      look->matching(*tag) & wanting & ~around & ~look->slow(),
      inside.context.is_trace() ? inside.context.trace_low : trace_.make_id(), event.begin_ns);
  event.context.places = (around & wanting) | by_itself;
  look->count(static_cast<Places>(event.context.places), event.begin_ns);
  note_inside(*look, around & wanting, inside.around);
  put_span(look, event);
}

// False if there is no room for it, which is counted, or if nobody wants it.
bool Recorder::put_span(const Captures::Look& look, CapturedSpan& span) {
  const auto places = static_cast<Places>(span.context.places);
  if (places == 0) return false;
  span.epoch = look->epoch();
  span.tid = thread_.load(std::memory_order_relaxed);
  if (queue_->spans().put(span_token_, span)) {
    if ((places & look->slow()) != 0 && queue_->spans().wants_to_be_sorted()) doorbell_->ring();
    return true;
  }
  look->miss_for_want_of_room(places);
  return false;
}

}  // namespace pcp::trace::client
