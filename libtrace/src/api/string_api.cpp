// SPDX-License-Identifier: LGPL-2.1-or-later
// The C API by name: the calls of the stock library.
#include <cstring>

#include "api/api.hpp"
#include "api/find_tag.hpp"
#include "api/recording.hpp"
#include "delivery/diagnostics.hpp"
#include "record/clock.hpp"
#include "record/kept_traces.hpp"

using namespace pcp::trace;
using namespace pcp::trace::client;

namespace {

// Tells names apart that have no tag of their own.
std::uint64_t key_of(std::string_view name) { return hash_of_name(name) | 1; }

// Finds the tag that the caller's string names, by the thread's cache if possible. Null with an
// error code in `error` if there is none.
TagCache::Entry* look_up(const char* name, Recorder*& recorder, int& error) {
  error = PMTRACE_ERR_TAGNAME;
  if (name == nullptr || *name == '\0') return nullptr;
  error = -ENOMEM;
  recorder = find_recorder();
  if (recorder == nullptr) return nullptr;
  TagCache::Entry& entry = recorder->tags().at(name);
  if (TagCache::holds(entry, name)) [[likely]]
    return &entry;

  const std::string_view text(name, ::strnlen(name, kMaxTagLength + 1));
  error = PMTRACE_ERR_TAGLENGTH;
  if (text.size() > kMaxTagLength) return nullptr;
  error = -ENOMEM;
  const Tag* tag = find_tag(text);
  if (tag == nullptr) return nullptr;
  entry = {name, tag, name_of(*tag) == text ? 0 : key_of(text), nullptr};
  return &entry;
}

// The thread's slot for a transaction of this tag; null if there is no memory.
OpenTransactions::Slot* slot_of(TagCache::Entry& entry, Recorder& recorder) {
  if (entry.slot == nullptr)
    entry.slot = recorder.transactions().find_or_make(entry.tag, entry.key);
  return entry.slot;
}

// What a call by name tells of the connection, as long as none was made.
[[gnu::noinline]] int report_connection_slowly(Recorder& recorder) {
  if (has_state(PMTRACE_STATE_NOAGENT)) return 0;
  Client* client = Client::get_if_made();
  client->start_flusher();
  const int outcome =
      client->link().report(has_state(PMTRACE_STATE_ASYNC), client->options().connect_timeout);
  recorder.has_connected = client->link().first_connection() == 0;
  return outcome;
}

int report_connection(Recorder& recorder) {
  return recorder.has_connected ? 0 : report_connection_slowly(recorder);
}

// Stands apart, so that a call that is switched off does not prepare for it.
[[gnu::noinline, gnu::flatten]] int record_switched_on(const char* name, RecordKind kind,
                                                       double value) {
  Recorder* recorder;
  int error;
  const TagCache::Entry* entry = look_up(name, recorder, error);
  if (entry == nullptr) return refuse(kind, name, error);
  error = record_call(*recorder, entry->tag, kind, value);
  return error != 0 ? error : report_connection(*recorder);
}

int record_by_name(const char* name, RecordKind kind, double value) {
  if (is_switched_off()) [[unlikely]]
    return name != nullptr && *name != '\0' ? 0 : PMTRACE_ERR_TAGNAME;
  return record_switched_on(name, kind, value);
}

// Its trace has no place in the slot.
[[gnu::noinline]] Recorder::Begun begin_traced(const Tag* tag, Recorder& recorder) {
  const auto [begun, context] = recorder.begin_traced(tag);
  if (OpenTable::is_entry(begun.place) && (begun.place & OpenTable::kMarks) != 0)
    keep_trace(OpenTable::entry_at(begun.place)->number, {begun.moment, begun.place, context});
  return begun;
}

// Takes it out of its table. Its end is told by `kind`; another one that replaces it is none.
[[gnu::noinline]] void end_traced(const OpenTransactions::Slot::Closed& closed, const Tag* tag,
                                  Recorder& recorder, bool aborted) {
  TraceContext context;
  if (OpenTable::is_entry(closed.place))
    if (const auto kept = find_trace(OpenTable::entry_at(closed.place)->number, closed.begun))
      context = kept->context;
  recorder.end_traced({tag, closed.place, closed.begun}, context, aborted);
}

void leave(const OpenTransactions::Slot::Closed& closed, const Tag* tag, Recorder& recorder,
           bool aborted) {
  if (closed.begun == 0) return;
  if ((closed.place & OpenTable::kMarks) == 0) [[likely]]
    recorder.leave(closed.place, tag, closed.begun);
  else
    end_traced(closed, tag, recorder, aborted);
}

// Closes the calling thread's transaction, else another thread's, and takes it out of its table.
// Gives its begin; 0 if nobody has one open.
Moment close_transaction(TagCache::Entry& entry, Recorder& recorder, bool aborted) {
  OpenTransactions::Slot* own = slot_of(entry, recorder);
  OpenTransactions::Slot::Closed closed;
  if (own != nullptr && own->is_open()) closed = own->close();
  if (closed.begun == 0) [[unlikely]]
    Client::get_if_made()->recorders().for_each([&](Recorder& each) {
      if (closed.begun == 0) closed = each.transactions().close(entry.tag, entry.key);
    });
  leave(closed, entry.tag, recorder, aborted);
  return closed.begun;
}

// Opens it, in place of one that may be replaced. What is switched off is nowhere to be seen.
void open_transaction(TagCache::Entry& entry, Recorder& recorder, bool replaceable) {
  const OpenTransactions::Slot::Closed before = entry.slot->close();
  leave(before, entry.tag, recorder, true);
  Recorder::Begun begun;
  if (has_state(PMTRACE_STATE_NOAGENT) && !has_state(kMakesIds))
    begun = {present_moment(), OpenTable::kNowhere};
  else if (recorder.is_plain(entry.tag)) [[likely]]
    begun = recorder.begin(entry.tag);
  else
    begun = begin_traced(entry.tag, recorder);
  entry.slot->begin(begun.moment, replaceable, begun.place);
}

// Ends or aborts. An abort, which the stock library keeps to itself, tells nothing of the
// connection.
[[gnu::flatten]] int close_by_name(const char* name, RecordKind kind) {
  const Moment now = present_moment();
  Recorder* recorder;
  int error;
  TagCache::Entry* entry = look_up(name, recorder, error);
  if (entry == nullptr) return refuse(kind, name, error);
  const Moment begun = close_transaction(*entry, *recorder, kind == RecordKind::Abort);
  if (begun == 0)
    return refuse(kind, name,
                  entry->tag->has_begun.load(std::memory_order_relaxed) ? PMTRACE_ERR_NOPROGRESS
                                                                        : PMTRACE_ERR_NOSUCHTAG);
  error = record_transaction(*recorder, entry->tag, kind, seconds_since(begun, now));
  return error != 0 || kind == RecordKind::Abort ? error : report_connection(*recorder);
}

}  // namespace

extern "C" {

PMTRACE_EXPORT int pmtracebegin(const char* name) {
  Recorder* recorder;
  int error;
  TagCache::Entry* entry = look_up(name, recorder, error);
  if (entry == nullptr) return refuse("begin", name, error);
  OpenTransactions::Slot* slot = slot_of(*entry, *recorder);
  if (slot == nullptr) return -ENOMEM;
  if (slot->blocks_begin()) return refuse("begin", name, PMTRACE_ERR_INPROGRESS);
  if (!entry->tag->has_begun.load(std::memory_order_relaxed))
    entry->tag->has_begun.store(true, std::memory_order_relaxed);
  error = report_connection(*recorder);
  diagnose(PMTRACE_STATE_API, [&] { return std::string("begin \"") + name + '"'; });
  open_transaction(*entry, *recorder, error != 0);
  return error;
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
  const bool was_connected = client != nullptr && client->link().first_connection() == 0;
  if (was_connected && (flags & PMTRACE_STATE_ASYNC) != 0) return -EINVAL;
  const int demanded = client != nullptr ? client->options().demanded_state() : 0;
  const int before = replace_state(flags | demanded);
  if (client != nullptr && has_state(PMTRACE_STATE_NOAGENT)) {
    client->recorders().clear_open();  // their ends may not be told any more
    client->doorbell().ring_if_asleep();
  }
  if (client != nullptr && !has_state(PMTRACE_STATE_NOAGENT)) client->start_flusher();
  return before;
}

}  // extern "C"
