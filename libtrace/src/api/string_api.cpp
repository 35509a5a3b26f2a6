// SPDX-License-Identifier: LGPL-2.1-or-later
// The C API by name: the stock library's calls.
#include <cstring>

#include "api/api.hpp"
#include "api/record_call.hpp"
#include "open/moment.hpp"
#include "platform/diagnostics.hpp"
#include "spans/kept_traces.hpp"

using namespace pcp::trace;
using namespace pcp::trace::client;

namespace {

// Distinguishes names without a tag of their own.
std::uint64_t key_of(std::string_view name) { return hash_of_name(name) | 1; }

// The cache entry for the caller's string; null if there is none.
[[gnu::always_inline]] inline TagCache::Entry* find_known(const char* name, Recorder* recorder) {
  if (name == nullptr || recorder == nullptr) [[unlikely]]
    return nullptr;
  TagCache::Entry& entry = recorder->tags().at(name);
  return TagCache::holds(entry, name) ? &entry : nullptr;
}

// Two words, returned in registers. A null entry comes with an error code.
struct FoundTag {
  TagCache::Entry* entry;
  int error;
};

[[gnu::noinline, gnu::cold]] FoundTag look_up_slowly(const char* name) {
  if (name == nullptr || *name == '\0') return {nullptr, PMTRACE_ERR_TAGNAME};
  Recorder* const recorder = find_recorder();
  if (recorder == nullptr) return {nullptr, -ENOMEM};
  const std::string_view text(name, ::strnlen(name, kMaxTagLength + 1));
  if (text.size() > kMaxTagLength) return {nullptr, PMTRACE_ERR_TAGLENGTH};
  const Tag* tag = find_tag(text);
  if (tag == nullptr) return {nullptr, -ENOMEM};
  TagCache::Entry& entry = recorder->tags().at(name);
  entry = {name, tag, name_of(*tag) == text ? 0 : key_of(text), nullptr};
  return {&entry, 0};
}

// Finds the tag for the caller's string, if possible in the thread's cache. After success the
// thread has a recorder.
FoundTag look_up(const char* name) {
  if (TagCache::Entry* const entry = find_known(name, known_recorder())) [[likely]]
    return {entry, 0};
  return look_up_slowly(name);
}

// The result of a call by name until a connection was made.
[[gnu::noinline]] int report_connection_slowly(Recorder& recorder) {
  if (has_state(PMTRACE_STATE_NOAGENT)) return 0;
  Client* client = Client::get_if_made();
  client->start_flusher();
  const int outcome = client->deliveries().report(has_state(PMTRACE_STATE_ASYNC),
                                                  client->options().connect_timeout);
  recorder.is_connection_known = client->deliveries().connection_outcome() == 0;
  return outcome;
}

int report_connection(Recorder& recorder) {
  return recorder.is_connection_known ? 0 : report_connection_slowly(recorder);
}

// Separate, so that a switched-off call saves no registers for it.
[[gnu::noinline, gnu::flatten]] int record_switched_on(const char* name, RecordKind kind,
                                                       double value) {
  const FoundTag found = look_up(name);
  if (found.entry == nullptr) return refuse(kind, name, found.error);
  Recorder& recorder = *this_recorder;
  const int error = record_call(recorder, found.entry->tag, kind, value);
  return error != 0 ? error : report_connection(recorder);
}

int record_by_name(const char* name, RecordKind kind, double value) {
  if (is_switched_off()) [[unlikely]]
    return name != nullptr && *name != '\0' ? 0 : PMTRACE_ERR_TAGNAME;
  return record_switched_on(name, kind, value);
}

// The trace is kept beside the entry, since the slot has no room.
[[gnu::noinline]] Begun begin_traced(const Tag* tag, Recorder& recorder) {
  const auto [begun, context] = recorder.begin_traced(tag);
  if (OpenTable::is_entry(begun.ref) && (begun.ref & OpenTable::kMarks) != 0)
    keep_trace(OpenTable::entry_at(begun.ref)->number, {begun, context});
  return begun;
}

// Closes the entry and captures the span. The caller records the end; a replaced transaction is not
// recorded.
[[gnu::noinline]] void end_traced(const Begun& closed, const Tag* tag, Recorder& recorder,
                                  bool aborted) {
  TraceContext context;
  if (OpenTable::is_entry(closed.ref))
    if (const auto kept = find_trace(OpenTable::entry_at(closed.ref)->number, closed.moment))
      context = kept->context;
  recorder.end_traced({tag, closed}, context, aborted);
}

void leave(const Begun& closed, const Tag* tag, Recorder& recorder, bool aborted) {
  if ((closed.ref & OpenTable::kMarks) == 0) [[likely]]
    recorder.leave(tag, closed);
  else
    end_traced(closed, tag, recorder, aborted);
}

// Closes another transaction of this name: one whose slot is not cached, another thread's, or one
// that an ended thread left open.
[[gnu::noinline]] Begun close_another(const TagCache::Entry& entry, Recorder& recorder) {
  Begun closed;
  if (OpenByName::Slot* own = recorder.transactions().find(entry.tag, entry.key))
    closed = own->close_own();
  Client::get_if_made()->recorders().for_each([&](Recorder& each) {
    if (closed.moment == 0) closed = each.transactions().close(entry.tag, entry.key);
  });
  return closed;
}

// The slow path of begin. While tracing is switched off it enters no table.
[[gnu::noinline]] int begin_slowly(const char* name) {
  const auto [entry, no_entry] = look_up(name);
  if (entry == nullptr) return refuse("begin", name, no_entry);
  const Tag* const tag = entry->tag;
  Recorder& recorder = *this_recorder;
  if (entry->slot == nullptr) entry->slot = recorder.transactions().find_or_make(tag, entry->key);
  OpenByName::Slot* const slot = entry->slot;
  if (slot == nullptr) return -ENOMEM;
  if (slot->blocks_begin()) return refuse("begin", name, PMTRACE_ERR_INPROGRESS);
  if (!tag->has_begun.load(std::memory_order_relaxed))
    tag->has_begun.store(true, std::memory_order_relaxed);
  const int error = report_connection(recorder);
  diagnose(PMTRACE_STATE_API, [&] { return std::string("begin \"") + name + '"'; });
  const Begun replaced = slot->close();
  if (replaced.moment != 0) leave(replaced, tag, recorder, true);
  Begun begun;
  if (has_state(PMTRACE_STATE_NOAGENT) && !has_state(kMakesIds))
    begun = {present_moment(), OpenTable::kNoRef};
  else
    begun = begin_traced(tag, recorder);
  slot->begin(begun.moment, error != 0, begun.ref);
  return error;
}

// Requires: the recorder can begin quickly, and the slot is closed.
[[gnu::always_inline]] inline int begin_quickly(const char* name, const TagCache::Entry& entry,
                                                Recorder& recorder, Moment now) {
  const OpenTable::Ref ref = recorder.begin_quickly(entry.tag, now);
  if (recorder.must_ring()) [[unlikely]] {
    recorder.undo_begin_quickly();
    return begin_slowly(name);
  }
  entry.slot->begin(now, false, ref);
  return 0;
}

[[gnu::noinline]] int begin_by_clock(const char* name, const TagCache::Entry& entry,
                                     Recorder& recorder) {
  return begin_quickly(name, entry, recorder, moment_by_clock());
}

// Ends or aborts. An abort does not report the connection: the stock library keeps aborts to
// itself.
[[gnu::flatten]] int close_by_name(const char* name, RecordKind kind) {
  const Moment now = present_moment();
  const auto [entry, no_entry] = look_up(name);
  if (entry == nullptr) return refuse(kind, name, no_entry);
  Recorder& recorder = *this_recorder;
  Begun closed;
  if (entry->slot != nullptr) [[likely]]
    closed = entry->slot->close_own();
  if (closed.moment == 0) [[unlikely]]
    closed = close_another(*entry, recorder);
  if (closed.moment == 0)
    return refuse(kind, name,
                  entry->tag->has_begun.load(std::memory_order_relaxed) ? PMTRACE_ERR_NOPROGRESS
                                                                        : PMTRACE_ERR_NOSUCHTAG);
  leave(closed, entry->tag, recorder, kind == RecordKind::Abort);
  const int error =
      record_transaction(recorder, entry->tag, kind, seconds_since(closed.moment, now));
  return error != 0 || kind == RecordKind::Abort ? error : report_connection(recorder);
}

}  // namespace

extern "C" {

PMTRACE_EXPORT int pmtracebegin(const char* name) {
  Recorder* const recorder = known_recorder();
  const TagCache::Entry* const entry = find_known(name, recorder);
  if (entry == nullptr || entry->slot == nullptr || entry->slot->is_open() ||
      !recorder->is_connection_known || has_state(kDiagnosticFlags | PMTRACE_STATE_NOAGENT) ||
      !recorder->can_begin_quickly(entry->tag)) [[unlikely]]
    return begin_slowly(name);
  if (!has_counter()) return begin_by_clock(name, *entry, *recorder);
  return begin_quickly(name, *entry, *recorder, moment_by_counter());
}

PMTRACE_EXPORT int pmtraceend(const char* name) {
  return close_by_name(name, RecordKind::Transact);
}

PMTRACE_EXPORT int pmtraceabort(const char* name) { return close_by_name(name, RecordKind::Abort); }

PMTRACE_EXPORT int pmtracepoint(const char* name) {
  return record_by_name(name, RecordKind::Point, 0);
}

PMTRACE_EXPORT int pmtraceobs(const char* name, double value) {
  return record_by_name(name, RecordKind::Observe, value);
}

PMTRACE_EXPORT int pmtracecounter(const char* name, double value) {
  return record_by_name(name, RecordKind::Counter, value);
}

PMTRACE_EXPORT int pmtraceadd(const char* name, double increment) {
  if (!is_increment(increment) && !is_switched_off()) [[unlikely]]
    return refuse_increment(name, increment);
  return record_by_name(name, RecordKind::Add, increment);
}

PMTRACE_EXPORT int pmtracestate(int flags) {
  Client* client = Client::make_if_asked();
  const bool was_connected = client != nullptr && client->deliveries().connection_outcome() == 0;
  if (was_connected && (flags & PMTRACE_STATE_ASYNC) != 0) return -EINVAL;
  const int demanded = client != nullptr ? client->options().demanded_state() : 0;
  const int before = replace_state(flags | demanded);
  if (client != nullptr && has_state(PMTRACE_STATE_NOAGENT)) {
    client->recorders().clear_open();  // ends of open ones may never be recorded
    client->doorbell().ring_if_asleep();
  }
  if (client != nullptr && !has_state(PMTRACE_STATE_NOAGENT)) client->start_flusher();
  return before;
}

}  // extern "C"
