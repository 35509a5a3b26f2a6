// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of Recorder for traces and captures.
#include <algorithm>
#include <utility>

#include "thread/recorder.hpp"

namespace pcp::trace::client {
namespace {

// When a transaction begins, and when a capture's limit counts it. Types of their own, so that the
// usual begin checks nothing.
struct Now {
  static Moment moment(bool is_timed) { return is_timed ? moment_by_clock() : present_moment(); }
  static std::uint64_t counted_ns(Moment begun) { return ns_of(begun); }
};
struct Earlier {
  Moment since;
  Moment moment(bool) const { return since; }
  static std::uint64_t counted_ns(Moment) { return now_ns(); }
};

// Counts a part of what these captures left out, as missed for the same reason.
void miss_part(const CaptureSet& set, CaptureBits bits, const TraceContext& context) {
  if ((context.flags() & kNoRoomFlag) != 0)
    set.miss_for_want_of_room(bits);
  else
    set.miss_for_limit(bits);
}

}  // namespace

// Where spans with this parent wait, if a slower= capture wants the parent's tree.
TreeRef Recorder::selected_around(const ThreadTrace::Parent& parent) const {
  if (!OpenTable::is_entry(parent.around.ref)) return kForgotten;
  const SlowTrees& trees = shared_->slow_trees();
  const SlowTrees::Snapshot known =
      trees.find(OpenTable::entry_at(parent.around.ref)->number, parent.around.moment);
  if (!known.is_found) return kForgotten;
  if (known.is_open && known.facts.selected != 0) return known.self;
  TreeRef around = known.around_inside();
  const bool is_late = !known.is_open;
  // Skips ended fast transactions: their slots may soon be reused.
  for (SlowTrees::Outcome outcome = trees.outcome(around);
       outcome.is_found && !outcome.is_open && outcome.slow == 0; outcome = trees.outcome(around))
    around = outcome.around;
  return around == 0 && is_late ? kForgotten : around;
}

// Captures that left out an enclosing transaction; if unknown, all that may have: those without
// slower= that have missed something.
CaptureBits Recorder::left_out_around(const CaptureSet& set,
                                      const ThreadTrace::Parent& parent) const {
  if ((parent.context.flags() & kLeftOutFlag) == 0) return 0;
  SlowTrees::Snapshot around;
  if (OpenTable::is_entry(parent.around.ref))
    around = shared_->slow_trees().find(OpenTable::entry_at(parent.around.ref)->number,
                                        parent.around.moment);
  if (around.is_found)
    return set.valid_bits(around.facts.left_out, static_cast<std::uint16_t>(around.facts.epoch));
  CaptureBits perhaps = 0;
  for_each_bit(set.bits() & ~set.slow(), [&](std::size_t bit) {
    if (set.has_missed(bit)) perhaps |= CaptureBits{1} << bit;
  });
  return perhaps;
}

// Chooses the captures of a transaction: those of its parent, and those for which it is a top. A
// top that only its share or limit leaves out still has a trace, so that its parts are decided
// alike.
Recorder::Chosen Recorder::choose(const PublishedCaptures::Reader& reader, const Tag* tag,
                                  const ThreadTrace::Parent& parent, TraceContext& context) {
  const CaptureBits slow = reader->slow();
  const CaptureBits inherited =
      reader->valid_bits(context.capture_bits(), OpenTable::epoch_of(parent.around.ref));
  const CaptureBits matching = reader->matching(*tag);
  // Parts of a transaction that was left out are left out, too: nobody must take a part for the
  // whole.
  const CaptureBits left_out = left_out_around(*reader, parent);
  miss_part(*reader, left_out & ~inherited, context);
  // A transaction with a trace may be a part of what is slow in another process.
  if (context.is_parent_elsewhere()) note_came_in();
  const bool has_trace = matching != 0 || context.is_trace() || trace_.always_begins_traces();
  const CaptureBits selecting = matching | (has_trace ? reader->relayed() : 0);
  const CaptureBits tops = selecting & ~inherited & ~left_out;
  Chosen chosen{.tree = {.left_out = left_out, .epoch = reader->epoch()}};
  if ((inherited | tops) == 0) return chosen;
  if (!context.is_trace()) context = trace_.begin_trace();
  if (!context.is_trace()) {
    reader->miss_for_want_of_room(inherited | tops);
    return chosen;
  }
  CaptureBits admitted = reader->admit(tops, context.trace_low, chosen.tree.left_out);
  // Tops use half of the pool; the rest is for their parts. Tops of slower= use none yet.
  if ((admitted & ~slow) != 0 && shared_->spans().is_half_full()) {
    reader->miss_for_want_of_room(admitted & ~slow);
    chosen.tree.left_out |= admitted & ~slow;
    admitted &= slow;
    context.set_flags(context.flags() | kNoRoomFlag);
  }
  chosen.is_left_out = chosen.tree.left_out != left_out;
  chosen.bits = inherited | admitted;
  if (chosen.bits != 0 && context.own == 0) context.own = trace_.make_id();
  if (chosen.bits != 0 && context.own == 0) {  // there was no memory for an id
    reader->miss_for_want_of_room(chosen.bits);
    chosen.bits = 0;
    return chosen;
  }
  chosen.tree.selected = chosen.bits & selecting & slow;
  chosen.tree.trace_low = context.trace_low;
  if ((inherited & slow) != 0) chosen.tree.around = selected_around(parent);
  return chosen;
}

// The order matters. First the entry, so that the flusher sees a transaction that hangs; then the
// ring, which takes long, so the transaction begins after it. The slow tree may cost captures, so
// it comes before their count, and the marks of what was counted after that. The thread's stack
// comes last, since it takes the finished ref and context.
template <typename Start>
[[gnu::always_inline]] inline Traced Recorder::begin_inside(const Tag* tag,
                                                            const ThreadTrace::Parent& parent,
                                                            bool is_chosen, Start start) {
  TraceContext context = parent.context;
  const PublishedCaptures::Reader reader(shared_->captures(), capture_reads_);
  const bool is_on = !has_state(PMTRACE_STATE_NOAGENT);
  const Chosen chosen =
      is_on && has_state(kCapturing) && reader ? choose(reader, tag, parent, context) : Chosen{};
  CaptureBits bits = chosen.bits;
  if (!context.is_trace() && trace_.always_begins_traces()) context = trace_.begin_trace();

  // Captured spans use the monotonic clock, which all processes of this host share.
  const bool is_timed = bits != 0;
  Begun begun{start.moment(is_timed), OpenTable::kNoRef};
  begun.ref = open_.enter(tag, begun.moment);
  const bool has_entry = OpenTable::is_entry(begun.ref);
  if (!has_entry && reader) reader->miss_for_want_of_room(std::exchange(bits, 0));
  if (is_on && must_ring()) {  // takes long: the transaction begins after it
    doorbell_->ring_if_asleep();
    begun.moment = start.moment(is_timed);
    OpenTable::begin_later(begun.ref, begun.moment);
  }
  if (has_entry && (chosen.tree.left_out != 0 || (reader && (bits & reader->slow()) != 0))) {
    const std::uint32_t entry = OpenTable::entry_at(begun.ref)->number;
    if (!shared_->slow_trees().open(entry, begun.moment, chosen.tree) && reader) {
      reader->miss_for_want_of_room(bits & reader->slow());
      bits &= ~reader->slow();
    }
  }
  context.set_capture_bits(bits);
  context.set_flags(chosen.tree.left_out != 0 ? context.flags() | kLeftOutFlag
                                              : context.flags() & ~(kLeftOutFlag | kNoRoomFlag));
  if (reader && (bits & reader->slow()) != 0)
    shared_->slow_trees().show(OpenTable::entry_at(begun.ref)->number, *tag,
                               thread_.load(std::memory_order_relaxed), context,
                               chosen.tree.selected & reader->matching(*tag));
  if (is_timed && has_entry) {
    OpenTable::entry_at(begun.ref)->thread.store(thread_.load(std::memory_order_relaxed),
                                                 std::memory_order_relaxed);
    reader->count(bits, start.counted_ns(begun.moment));
    begun.ref |= OpenTable::captured_in(reader->epoch());
  }
  if (context.is_trace()) begun.ref |= OpenTable::kHasTrace;
  if (is_chosen || context.own != 0 || chosen.is_left_out)
    begun.ref = trace_.attach_begun({tag, begun}, context);
  return {begun, context};
}

Traced Recorder::begin_inside(const Tag* tag, const ThreadTrace::Parent& parent, bool is_chosen) {
  return begin_inside(tag, parent, is_chosen, Now{});
}

Traced Recorder::begin_inside(const Tag* tag, const ThreadTrace::Parent& parent, bool is_chosen,
                              Moment since) {
  return begin_inside(tag, parent, is_chosen, Earlier{unlike_others(since)});
}

// The flusher decides about the trace while the transaction is open.
void Recorder::note_reason(TreeRef at, std::uint32_t reason) {
  if (shared_->slow_trees().note(at, reason)) doorbell_->ring_if_asleep();
}

void Recorder::want(const OpenTransaction& open) {
  const std::uint32_t entry = OpenTable::entry_at(open.begun.ref)->number;
  const SlowTrees::Snapshot known = shared_->slow_trees().find(entry, open.begun.moment);
  if (known.is_found) note_reason(known.around_inside(), wire::kIfWanted);
}

double Recorder::end_traced(const OpenTransaction& open, const TraceContext& context, bool aborted,
                            const Tag* as) {
  const bool is_captured = (open.begun.ref & OpenTable::kIsCaptured) != 0;
  const Moment now = is_captured ? moment_by_clock() : present_moment();
  const double seconds = seconds_since(open.begun.moment, now);
  if (!is_captured) {
    open_.leave(open.tag, {open.begun.moment, trace_.leave(open)});
    return seconds;
  }
  // All that belongs to the entry comes before the next transaction gets it.
  const OpenEntry& entry = *OpenTable::entry_at(open.begun.ref);
  const bool came_in = (context.flags() & kCameInFlag) != 0;
  EndedSpan ended{.open = open,
                  .context = context,
                  .tag = as,
                  .notes = take_notes(entry.number, open.begun.moment),
                  .duration_ns = ns_of(now) - ns_of(open.begun.moment),
                  .tid = entry.thread.load(std::memory_order_relaxed),
                  .kind = came_in                                    ? wire::SpanKind::Server
                          : is_sent(entry.number, open.begun.moment) ? wire::SpanKind::Client
                                                                     : wire::SpanKind::Internal,
                  .aborted = aborted,
                  .tree = shared_->slow_trees().find(entry.number, open.begun.moment)};
  const PublishedCaptures::Reader reader(shared_->captures(), capture_reads_);
  SlowTrees::Ending ending{.duration_ns = ended.duration_ns};
  if (reader) {
    ended.bits = reader->valid_bits(context.capture_bits(), OpenTable::epoch_of(open.begun.ref));
    ending.set = &*reader;
    ending.bits = ended.tree.facts.selected & ended.bits & reader->matching(*open.tag);
    if (as != open.tag) reader->note(*as);
    if (aborted && (ended.bits & reader->slow()) != 0)
      note_reason(ended.tree.around_inside(), wire::kIfFailed);
  }
  // With copies several threads may end it: the first one does the rest.
  const OpenTable::Ref ref = trace_.leave(open);
  const bool is_selected = ended.tree.facts.selected != 0;
  if (is_selected && !shared_->slow_trees().close(ended.tree, ending, ended.waiting))
    return seconds;
  if (!open_.leave(open.tag, {open.begun.moment, ref}) && !is_selected) return seconds;
  ended.is_part = !ended.waiting.has_parts;
  if (reader)
    capture_span(*reader, ended);
  else
    spans_.give_back(ended.waiting.list);
  if (ended.is_part) shared_->slow_trees().note_end_of_part(ended.tree.facts.around);
  if (ended.tree.is_found) shared_->slow_trees().hide(entry.number, context.own);
  return seconds;
}

void Recorder::capture_span(const CaptureSet& set, EndedSpan& ended) {
  const SpanPool::Index waiting = ended.waiting.list;
  const TreeRef around = (ended.bits & set.slow()) != 0 ? ended.tree.facts.around : 0;
  const bool is_fast = (ended.bits & ~set.slow()) == 0 && ended.waiting.slow == 0;
  const bool crosses = ended.kind != wire::SpanKind::Internal ||
                       ended.context.is_parent_elsewhere() ||
                       (waiting != 0 && shared_->spans().crosses(waiting));
  const bool may_be_wanted = ((ended.bits & set.slow()) != 0 && ended.waiting.may_be_wanted) ||
                             ((ended.bits & set.relayed()) != 0 && crosses);
  // Also if no capture is left.
  if (is_fast && around == 0 && !may_be_wanted) return spans_.give_back(waiting);
  const std::uint64_t begin_ns = ns_of(ended.open.begun.moment);
  const SpanPool::Index self = spans_.make([&](CapturedSpan& span) {
    span.tag = ended.tag;
    span.context = ended.context;
    span.context.set_capture_bits(ended.bits);
    if (ended.notes != nullptr && ended.notes->is_wanted())
      span.context.set_flags(span.context.flags() | kWantedFlag);
    span.notes = std::move(ended.notes);
    span.begin_ns = begin_ns;
    span.duration_ns = ended.duration_ns;
    span.epoch = set.epoch();
    span.tid = ended.tid;
    span.kind = ended.kind;
    span.aborted = ended.aborted;
    span.slow_for = ended.waiting.slow;
  });
  if (self == 0) {
    set.miss_for_want_of_room(ended.bits, 1 + (waiting != 0 ? shared_->spans().size(waiting) : 0));
    return spans_.give_back(waiting);
  }
  send_or_wait(set, shared_->spans().join(self, waiting),
               {.around = around, .slow = ended.waiting.slow, .may_be_wanted = may_be_wanted},
               begin_ns + ended.duration_ns, ended.is_part);
}

// A list waits at the innermost open selected transaction around it, unless some filter wants it
// now. If that notes the end of the part, `is_part` becomes false.
void Recorder::send_or_wait(const CaptureSet& set, SpanPool::Index list, SpanPool::Facts facts,
                            std::uint64_t since_ns, bool& is_part) {
  SpanPool& pool = shared_->spans();
  SlowTrees& trees = shared_->slow_trees();
  const auto bits = pool.first(list).capture_bits();
  const TreeRef part_of = is_part ? facts.around : 0;
  facts.at_once = bits & ~set.slow();
  for (;;) {
    if ((facts.at_once | facts.slow) == 0) {
      const bool is_its_part = is_part && facts.around == part_of;
      if (trees.wait(facts.around, list, is_its_part, since_ns)) {
        is_part = is_part && !is_its_part;
        return;
      }
      if (facts.around == 0) break;  // the flusher holds it
    }
    const SlowTrees::Outcome around = trees.outcome(facts.around);
    if (!around.is_found || around.is_open) break;
    facts.slow |= around.slow;
    facts.around = around.around;
    facts.may_be_wanted = true;  // it ends late
  }
  const bool has_slow = (bits & set.slow()) != 0;
  if (spans_.hand_over(list, facts) && has_slow) doorbell_->ring();
}

void Recorder::capture_event(const Tag* tag, wire::SpanKind kind, double value) {
  const PublishedCaptures::Reader reader(shared_->captures(), capture_reads_);
  if (!reader) return;
  const CaptureBits wanting = reader->matching(kind);
  if (wanting == 0) return;
  const ThreadTrace::Parent parent = trace_.innermost();
  const CaptureBits around = wanting & reader->valid_bits(parent.context.capture_bits(),
                                                          OpenTable::epoch_of(parent.around.ref));
  CaptureBits left_out = wanting & ~around & left_out_around(*reader, parent);
  miss_part(*reader, left_out, parent.context);
  const CaptureBits by_itself = reader->admit(
      reader->matching(*tag) & wanting & ~around & ~left_out & ~reader->slow(),
      parent.context.is_trace() ? parent.context.trace_low : trace_.make_id(), left_out);
  const CaptureBits bits = around | by_itself;
  if (bits == 0) return;
  const std::uint64_t now = now_ns();
  reader->count(bits, now);
  const SpanPool::Index list = spans_.make([&](CapturedSpan& event) {
    event = {.tag = tag, .context = parent.context, .begin_ns = now, .value = value};
    event.context.set_capture_bits(bits);
    event.epoch = reader->epoch();
    event.tid = thread_.load(std::memory_order_relaxed);
    event.kind = kind;
  });
  if (list == 0) return reader->miss_for_want_of_room(bits);
  bool is_part = false;  // events are not counted as open parts
  send_or_wait(*reader, list,
               {.around = (bits & reader->slow()) != 0 ? selected_around(parent) : 0}, now,
               is_part);
}

}  // namespace pcp::trace::client
