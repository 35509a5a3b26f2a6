// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of Recorder for traces and captures.
#include <utility>

#include "record/recorder.hpp"
#include "record/slow_tree.hpp"
#include "record/span_notes.hpp"

namespace pcp::trace::client {
namespace {

std::uint64_t ns_of(Moment by_clock) { return by_clock >> 1; }

Moment begun_at(OpenTable::Place place) {
  return OpenTable::is_entry(place)
             ? OpenTable::entry_at(place)->begun.load(std::memory_order_relaxed)
             : 0;
}

// The slower= places for which it took long enough.
Places slow_ones(const CaptureSet& set, Places places, std::uint64_t duration_ns) {
  Places slow = 0;
  for_each_place(places, [&](std::size_t place) {
    if (set.is_slow(place, duration_ns)) slow |= Places{1} << place;
  });
  return slow;
}

void note_inside(OpenTable::Place around, Moment begun) {
  if (OpenTable::is_entry(around)) note_begun_inside(OpenTable::entry_at(around)->number, begun);
}

// Gives up after so many ended ancestors.
constexpr int kDeepest = 64;

}  // namespace

// Nowhere if it cannot be found any more.
Recorder::Around Recorder::innermost_open(const ThreadTrace::Inside& inside) {
  Around around{inside.around, inside.around_begun};
  for (int depth = 0; depth < kDeepest && OpenTable::is_entry(around.place); ++depth) {
    if (begun_at(around.place) == around.begun) return around;
    const SlowTreeNote ended =
        find_in_slow_tree(OpenTable::entry_at(around.place)->number, around.begun);
    if (!ended.is_known) break;
    around = {ended.what.around, ended.what.around_begun, around.fast | ended.fast};
  }
  return {.fast = around.fast};
}

// Places whose limit left out an enclosing transaction; if unknown, all places without slower=.
Places Recorder::over_limit_around(const CaptureSet& set, const ThreadTrace::Inside& inside) {
  if ((inside.context.flags() & kOverLimitFlag) == 0) return 0;
  SlowTreeNote around;
  if (OpenTable::is_entry(inside.around))
    around = find_in_slow_tree(OpenTable::entry_at(inside.around)->number, inside.around_begun);
  if (!around.is_known) return set.places() & ~set.slow();
  return set.still_asked(around.what.over_limit, static_cast<std::uint16_t>(around.what.epoch));
}

// Chooses the places that capture it: those that capture its parent, and those whose top it is. A
// top that is only left out for its share or limit still has a trace, so that its parts are
// decided alike.
Recorder::Chosen Recorder::choose(const Captures::Look& look, const Tag* tag,
                                  const ThreadTrace::Inside& inside, TraceContext& context) {
  Places inherited = look->still_asked(context.places(), OpenTable::epoch_of(inside.around));
  Around around;
  if ((inherited & look->slow()) != 0) {
    around = innermost_open(inside);
    inherited &= ~around.fast;
  }
  const Places tops = look->matching(*tag) & ~inherited;
  const Places over_limit = over_limit_around(*look, inside);
  if ((inherited | tops) == 0) return {.over_limit = over_limit};
  if (!context.is_trace()) context = trace_.begin_trace();
  if (!context.is_trace()) {
    look->miss_for_want_of_room(inherited | tops);
    return {.over_limit = over_limit};
  }
  Chosen chosen{.over_limit = over_limit, .around = around};
  // Parts of a transaction that was left out are left out, too: nobody must take a part for the
  // whole.
  chosen.places = look->admit(tops, context.trace_low, chosen.over_limit);
  chosen.is_left_out = chosen.over_limit != over_limit;
  // Tops use half of the queue; the rest is for their parts.
  const bool has_room = !queue_->spans().is_half_full() && (context.flags() & kLeftOutFlag) == 0;
  if (chosen.places != 0 && !has_room) {
    chosen.left_out = chosen.places & look->slow();
    look->miss_for_want_of_room(chosen.places & ~chosen.left_out);
    chosen.places = 0;
    chosen.is_left_out = true;
    context.set_flags(context.flags() | kLeftOutFlag);
  }
  chosen.slow_tops = chosen.places & look->slow();
  chosen.places |= inherited;
  if (chosen.places != 0 && context.own == 0) context.own = trace_.make_id();
  if (chosen.places != 0 && context.own == 0) {  // there was no memory for an id
    look->miss_for_want_of_room(chosen.places);
    return {.over_limit = chosen.over_limit};
  }
  note_inside(around.place, around.begun);
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

  // Captured spans use the monotonic clock, which all processes of this host share.
  const bool is_timed = (places | chosen.left_out) != 0;
  const auto now = [&] { return is_timed ? moment_by_clock() : present_moment(); };
  Begun begun{now(), OpenTable::kNowhere};
  begun.place = open_.enter(tag, begun.moment);
  const bool has_entry = OpenTable::is_entry(begun.place);
  if (!has_entry && look) look->miss_for_want_of_room(std::exchange(places, 0) | chosen.left_out);
  if (is_on && must_ring()) {  // see begin_after_ring()
    doorbell_->ring_if_asleep();
    begun.moment = now();
    OpenTable::begin_later(begun.place, begun.moment);
  }
  context.set_places(places);
  if (has_entry &&
      (chosen.over_limit != 0 || (is_timed && ((places | chosen.left_out) & look->slow()) != 0)))
    note_in_slow_tree(OpenTable::entry_at(begun.place)->number, begun.moment,
                      {chosen.slow_tops, chosen.left_out, ended_inside_.round(),
                       chosen.around.place, chosen.around.begun, chosen.over_limit, look->epoch()});
  context.set_flags((context.flags() & ~kOverLimitFlag) |
                    (chosen.over_limit != 0 ? kOverLimitFlag : 0));
  if (is_timed && has_entry) {
    OpenTable::entry_at(begun.place)
        ->thread.store(thread_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    look->count(places, ns_of(begun.moment));
    begun.place |= OpenTable::captured_in(look->epoch());
  }
  if (context.is_trace()) begun.place |= OpenTable::kHasTrace;
  if (is_chosen || context.own != 0 || chosen.is_left_out)
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
  // Notes belong to the entry: take them before the next transaction gets it.
  const std::uint32_t entry = OpenTable::entry_at(open.place)->number;
  const std::uint32_t thread =
      OpenTable::entry_at(open.place)->thread.load(std::memory_order_relaxed);
  SpanNotes* notes = take_notes(entry, open.begun);
  const bool has_sent = is_sent(entry, open.begun);
  const SlowTreeNote in_slow_tree = find_in_slow_tree(entry, open.begun);
  if (open_.leave(trace_.end(open), open.tag, open.begun)) {
    const bool came_in = (context.flags() & kCameInFlag) != 0;
    CapturedSpan span{.tag = open.tag,
                      .notes = notes,
                      .context = context,
                      .begin_ns = ns_of(open.begun),
                      .duration_ns = ns_of(now) - ns_of(open.begun),
                      .tid = thread,
                      .kind = came_in    ? wire::SpanKind::Server
                              : has_sent ? wire::SpanKind::Client
                                         : wire::SpanKind::Internal,
                      .aborted = aborted};
    const Captures::Look look(queue_->captures(), looks_at_captures_);
    if (look && capture_span(*look, open, in_slow_tree, span)) notes = nullptr;
  }
  delete notes;
  return seconds_since(open.begun, now);
}

// False if no filter wants it, or the queue is full, which is counted.
bool Recorder::capture_span(const CaptureSet& set, const ThreadTrace::Open& open,
                            const SlowTreeNote& note, CapturedSpan& span) {
  const auto still = [&](Places places) {
    return set.still_asked(places, OpenTable::epoch_of(open.place));
  };
  span.context.set_places(still(span.context.places()));
  span.slow_tops = note.what.tops & still(span.context.places());
  span.epoch = set.epoch();
  set.miss_for_want_of_room(slow_ones(set, still(note.what.left_out), span.duration_ns));
  const bool is_in_slow_tree = (span.context.places() & set.slow()) != 0;
  if (is_in_slow_tree) {
    if (note.is_closed && is_own(open.place) && keep_until_top_ends(set, open, note.what, span))
      return true;
    if (span.context.places() != 0) queue_what_ended_inside(set);  // before the span
  }
  return put_span(set, span);
}

// All spans inside of it ended on this thread, and perhaps wait here. A fast top is dropped with
// all of them. A part of another transaction waits for that one. True if it waits.
bool Recorder::keep_until_top_ends(const CaptureSet& set, const ThreadTrace::Open& open,
                                   const InSlowTree& what, CapturedSpan& span) {
  const Places slow = slow_ones(set, span.slow_tops, span.duration_ns);
  const Places fast = span.slow_tops & ~slow;
  if (!ended_inside_.leave_out_inside(span.context.own, fast, what.round)) return false;
  note_fast(OpenTable::entry_at(open.place)->number, open.begun, fast);
  span.slow_tops = slow;
  span.context.set_places(span.context.places() & ~fast);
  const auto places = span.context.places();
  const bool has_to_wait = places != 0 && (places & ~set.slow()) == 0 && slow == 0;
  if (!has_to_wait || !is_own(what.around) || !ended_inside_.put(span, what.round)) return false;
  note_ended_inside(OpenTable::entry_at(what.around)->number, what.around_begun);
  return true;
}

// The same for an event. False if its parent has ended.
bool Recorder::keep_until_top_ends(const CaptureSet& set, const ThreadTrace::Inside& inside,
                                   const CapturedSpan& event) {
  const auto places = event.context.places();
  if (places == 0 || (places & ~set.slow()) != 0 || !is_own(inside.around)) return false;
  const std::uint32_t entry = OpenTable::entry_at(inside.around)->number;
  const SlowTreeNote note = find_in_slow_tree(entry, inside.around_begun);
  return note.is_known && ended_inside_.put(event, note.what.round);
}

void Recorder::queue_what_ended_inside(const CaptureSet& set) {
  ended_inside_.take([&](CapturedSpan& each) {
    each.context.set_places(
        set.still_asked(each.context.places(), static_cast<std::uint16_t>(each.epoch)));
    each.epoch = set.epoch();
    if (!put_span(set, each)) delete each.notes;
  });
}

void Recorder::capture_event(const Tag* tag, wire::SpanKind kind, double value) {
  const Captures::Look look(queue_->captures(), looks_at_captures_);
  if (!look) return;
  const Places wanting = look->wanting(kind);
  if (wanting == 0) return;
  const ThreadTrace::Inside inside = trace_.innermost();
  const Places around =
      look->still_asked(inside.context.places(), OpenTable::epoch_of(inside.around));
  CapturedSpan event{.tag = tag, .context = inside.context};
  event.begin_ns = now_ns();
  event.value = value;
  event.kind = kind;
  Places over_limit = over_limit_around(*look, inside);
  const Places by_itself = look->admit(
      look->matching(*tag) & wanting & ~around & ~look->slow(),
      inside.context.is_trace() ? inside.context.trace_low : trace_.make_id(), over_limit);
  event.context.set_places((around & wanting) | by_itself);
  look->count(event.context.places(), event.begin_ns);
  event.epoch = look->epoch();
  event.tid = thread_.load(std::memory_order_relaxed);
  if (keep_until_top_ends(*look, inside, event)) return;
  if ((around & wanting & look->slow()) != 0) note_inside(inside.around, inside.around_begun);
  put_span(*look, event);
}

// False if no filter wants it, or the queue is full, which is counted.
bool Recorder::put_span(const CaptureSet& set, const CapturedSpan& span) {
  const auto places = span.context.places();
  if (places == 0) return false;
  if (queue_->spans().put(span_token_, span)) {
    if ((places & set.slow()) != 0 && queue_->spans().wants_to_be_sorted()) doorbell_->ring();
    return true;
  }
  set.miss_for_want_of_room(places);
  return false;
}

}  // namespace pcp::trace::client
